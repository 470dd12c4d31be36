from .audio import audio_duration as audio_duration
from .catalogue import (
    PORTRAIT_CHECKS as PORTRAIT_CHECKS,
    RULES as RULES,
    CatalogueEntry as CatalogueEntry,
    CatalogueLimit as CatalogueLimit,
    WordLimit as WordLimit,
    entry_of as entry_of,
    judge as judge,
    report_on as report_on,
)
from .image import image_memory as image_memory
from .profile import (
    BUILT_IN as BUILT_IN,
    PAIR_CHECKS as PAIR_CHECKS,
    Profile as Profile,
    load_profile as load_profile,
)
from .report import Check as Check, Report as Report
from .rule import SAME_PERSON as SAME_PERSON, SAME_VOICE as SAME_VOICE, PairRule as PairRule
from .video import video_duration as video_duration
from .video_person import facing_limits as facing_limits
