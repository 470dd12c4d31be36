from .consent import consent_view as consent_view, dossier_view as dossier_view
from .progress import (
    Progress as Progress,
    RunProgress as RunProgress,
    cell_progress as cell_progress,
)
from .reports import (
    SafeConsole as SafeConsole,
    check_list as check_list,
    explained_check as explained_check,
    prepared_view as prepared_view,
    ranking_table as ranking_table,
    report_view as report_view,
    results_view as results_view,
)
