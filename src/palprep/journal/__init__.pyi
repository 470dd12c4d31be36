from .at_most_once import (
    asked_before as asked_before,
    create_once as create_once,
    resolve as resolve,
    resolve_ended as resolve_ended,
    resolve_found as resolve_found,
    resolve_retry as resolve_retry,
)
from .creations import (
    CUT_OFF as CUT_OFF,
    Creation as Creation,
    CreationState as CreationState,
    creation_key as creation_key,
    doubt_words as doubt_words,
    up_to_date as up_to_date,
)
from .entries import (
    AssetPrepared as AssetPrepared,
    ConsentDecided as ConsentDecided,
    ConsentFound as ConsentFound,
    ConsentWaived as ConsentWaived,
    CreationUsed as CreationUsed,
    DossierKept as DossierKept,
    FaceCheck as FaceCheck,
    FacesCompared as FacesCompared,
    FaceValidated as FaceValidated,
    FaceVerdict as FaceVerdict,
    FileFetched as FileFetched,
    FileGlimpsed as FileGlimpsed,
    FilesRemoved as FilesRemoved,
    PersonEnded as PersonEnded,
    PersonNames as PersonNames,
    Polled as Polled,
    PortraitPicked as PortraitPicked,
    RunStarted as RunStarted,
    SandboxStatement as SandboxStatement,
    Snapshot as Snapshot,
    What as What,
)
from .forgetting import same_name as same_name
from .inbox import (
    callback_server as callback_server,
    into_journal as into_journal,
    secret_path as secret_path,
)
from .outcome import (
    READY as READY,
    PersonOutcome as PersonOutcome,
    PersonStatus as PersonStatus,
    exit_code as exit_code,
)
from .people import (
    agree as agree,
    asked_code as asked_code,
    find_person as find_person,
    give_code as give_code,
    has_agreed as has_agreed,
    nobody as nobody,
    note_code as note_code,
    people_named as people_named,
)
from .run_view import (
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
from .store import JOURNAL_NAME as JOURNAL_NAME, Journal as Journal
