from .audio import AudioDuration as AudioDuration
from .catalogue import (
    CatalogueEntry as CatalogueEntry,
    CatalogueLimit as CatalogueLimit,
    WordLimit as WordLimit,
    entry_of as entry_of,
)
from .consent import (
    CONSENT_CHECKS as CONSENT_CHECKS,
    CONSENT_DOUBTS as CONSENT_DOUBTS,
    ConsentSpoken as ConsentSpoken,
    consent_doubts as consent_doubts,
    lacks_consent as lacks_consent,
    never_asked as never_asked,
)
from .consent_grading import grade_statement as grade_statement
from .image import ImageMemory as ImageMemory
from .judgement import judge as judge, report_on as report_on
from .measures import counted as counted, measure_words as measure_words
from .profile import (
    BUILT_IN as BUILT_IN,
    Limit as Limit,
    Profile as Profile,
    load_profile as load_profile,
)
from .registry import PORTRAIT_CHECKS as PORTRAIT_CHECKS, RULES as RULES
from .report import Check as Check, Report as Report
from .same_person import SamePerson as SamePerson
from .video import VideoDuration as VideoDuration, base_layer_shows as base_layer_shows
from .video_person import facing_limits as facing_limits
