"""What workers are asked to do, by name: the process that hands out work loads no decoder."""

from __future__ import annotations

from palprep.facts.speaker import Speaker
from palprep.media.source import Source
from palprep.preflight.asset import Asset
from palprep.preflight.prepared import Prepared
from palprep.rules.report import Check
from palprep.values import Role, Value
from palprep.workers.messages import ByName

_TASKS = "palprep.batch.tasks"


class AssetTask(Value):
    """One file to prepare for one role.

    ``speaker`` is whose consent is listened for in it. ``consent_apart``: another video gives
    it. ``split_consent``: make such a video of its opening. ``pictures`` is the folder that takes
    what the page shows of it.
    """

    source: str
    into: str
    role: Role
    profile: str
    speaker: Speaker | None = None
    consent_apart: bool = False
    split_consent: bool = False
    pictures: str | None = None


PREPARE_ASSET: ByName[[AssetTask, Source], Asset] = ByName(_TASKS, "prepare_asset")
WHY_UNHEARD: ByName[[AssetTask], str | None] = ByName(_TASKS, "why_unheard")
COMPARE_FACES: ByName[[tuple[Prepared, ...], str], tuple[Check, ...]] = ByName(
    _TASKS, "compare_faces"
)
