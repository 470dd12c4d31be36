from .facts import (
    FacingLimits as FacingLimits,
    Facts as Facts,
    Speaker as Speaker,
    Timeline as Timeline,
    share_held as share_held,
)
from .probing import coded_alike as coded_alike, probe as probe
