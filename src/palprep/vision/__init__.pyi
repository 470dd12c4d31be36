from .analysis import (
    MAX_SIDE as MAX_SIDE,
    Detections as Detections,
    analyse_image as analyse_image,
    detect_subject as detect_subject,
)
from .arrays import Floats as Floats, Pixels as Pixels
from .facts import (
    FootageFacts as FootageFacts,
    FrameSample as FrameSample,
    Framing as Framing,
    OverlayFacts as OverlayFacts,
    PortraitFacts as PortraitFacts,
    Quality as Quality,
    SubjectFacts as SubjectFacts,
    overall_score as overall_score,
)
from .footage import (
    CLOSE_LOOKS as CLOSE_LOOKS,
    FaceTrack as FaceTrack,
    analyse_footage as analyse_footage,
    follow_face as follow_face,
)
from .identity import cosine as cosine, identify as identify
from .models import Models as Models
from .pose import measure_head as measure_head
