from .facts import Facts as Facts, Speaker as Speaker
from .probing import coded_alike as coded_alike, probe as probe
from .timeline import (
    FacingLimits as FacingLimits,
    Timeline as Timeline,
    share_held as share_held,
)
