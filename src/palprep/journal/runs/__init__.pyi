from .outcome import (
    READY as READY,
    PersonOutcome as PersonOutcome,
    PersonStatus as PersonStatus,
    exit_code as exit_code,
)
from .views import (
    JournalHead as JournalHead,
    PersonResult as PersonResult,
    PersonStanding as PersonStanding,
    PersonView as PersonView,
    ReadableRun as ReadableRun,
    RunHead as RunHead,
    RunReader as RunReader,
    RunView as RunView,
    status as status,
)
