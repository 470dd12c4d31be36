from .choices import Choices as Choices
from .faults import FaultScript as FaultScript
from .sandbox import Sandbox as Sandbox, parse_choices as parse_choices
from .service import (
    DEFAULT_KEYS as DEFAULT_KEYS,
    SERVICE_KEY as SERVICE_KEY,
    USER_KEY as USER_KEY,
    ApiKey as ApiKey,
    TrainingKind as TrainingKind,
)
from .store import forget as forget
