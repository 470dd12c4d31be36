from .forgetting import (
    Forgetting as Forgetting,
    forget as forget,
    look_up as look_up,
    take_in_again as take_in_again,
)
from .outputs import (
    write_merged_report as write_merged_report,
    write_messages as write_messages,
    write_report as write_report,
    written_results as written_results,
)
from .runner import run as run
from .work.connection import Connection as Connection
from .work.consent import (
    kept_dossiers as kept_dossiers,
    recorded_of as recorded_of,
    spoken_by as spoken_by,
    video_at_hand as video_at_hand,
)
from .work.context import Note as Note, RunOptions as RunOptions
from .work.pace import Pace as Pace
from .work.sandbox_judges import judging_in as judging_in
from .work.waiting import watch as watch
