"""All rules by id. A new rule joins by standing in its module's tuple."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from palprep.rules.audio import AUDIO_RULES
from palprep.rules.consent import CONSENT_RULES
from palprep.rules.face import FACE_RULES
from palprep.rules.file import FILE_RULES
from palprep.rules.footage import FOOTAGE_RULES
from palprep.rules.image import IMAGE_RULES
from palprep.rules.rule import Rule
from palprep.rules.signal import SIGNAL_RULES
from palprep.rules.structure import STRUCTURE_RULES
from palprep.rules.video import VIDEO_RULES
from palprep.rules.voice import VOICE_RULES

_ALL = (
    *(*FILE_RULES, *IMAGE_RULES, *FACE_RULES),
    *(*AUDIO_RULES, *VIDEO_RULES, *FOOTAGE_RULES, *SIGNAL_RULES, *STRUCTURE_RULES),
    *(*VOICE_RULES, *CONSENT_RULES),
)

RULES: Final[Mapping[str, Rule]] = MappingProxyType({rule.id: rule() for rule in _ALL})
