from .engine import (
    LONGEST_S as LONGEST_S,
    Engine as Engine,
    Limits as Limits,
    WorkStopped as WorkStopped,
    usable_cores as usable_cores,
)
from .local import LocalEngine as LocalEngine, probe_isolation as probe_isolation
from .messages import unexpected as unexpected
