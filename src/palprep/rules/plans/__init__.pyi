from .image import adjustments as adjustments
from .planner import answered as answered, plan as plan
from .values import (
    CROSSFADE_S as CROSSFADE_S,
    Crop as Crop,
    ImagePlan as ImagePlan,
    Plan as Plan,
    VideoPlan as VideoPlan,
    VoicePlan as VoicePlan,
    not_passed as not_passed,
    with_less as with_less,
)
from .video import plan_consent_clip as plan_consent_clip
from .voice import COPY_CONTAINERS as COPY_CONTAINERS, levelled_anew as levelled_anew
