from .api.records import parse_event as parse_event
from .batch import (
    Connection as Connection,
    Note as Note,
    Pace as Pace,
    RunOptions as RunOptions,
    run as run,
    watch as watch,
    write_messages as write_messages,
)
from .batch.people import ManifestRow as ManifestRow, Selection as Selection, Shard as Shard
from .callbacks import (
    CallbackServer as CallbackServer,
    Delivery as Delivery,
    PublicCallbacks as PublicCallbacks,
    callback_app as callback_app,
)
from .client import AsyncClient as AsyncClient, Client as Client
from .consent import ConsentFacts as ConsentFacts
from .dossier import (
    Dossier as Dossier,
    ExaminedDossier as ExaminedDossier,
    examine_dossier as examine_dossier,
)
from .errors import (
    ApiError as ApiError,
    AuthenticationError as AuthenticationError,
    BadRequest as BadRequest,
    CannotFit as CannotFit,
    ClusterFailed as ClusterFailed,
    Conflict as Conflict,
    ConsentUnproven as ConsentUnproven,
    CreationUnrecorded as CreationUnrecorded,
    DamagedMedia as DamagedMedia,
    DossierUnusable as DossierUnusable,
    FileMissing as FileMissing,
    FileUnreadable as FileUnreadable,
    FixError as FixError,
    InvalidRequest as InvalidRequest,
    JournalBusy as JournalBusy,
    JournalError as JournalError,
    ManifestError as ManifestError,
    MediaError as MediaError,
    MediaTooHeavy as MediaTooHeavy,
    NotFound as NotFound,
    NoWorkers as NoWorkers,
    OutcomeUnknown as OutcomeUnknown,
    OutputUnwritable as OutputUnwritable,
    PalprepError as PalprepError,
    PayloadTooLarge as PayloadTooLarge,
    PermissionDenied as PermissionDenied,
    Problem as Problem,
    ProfileError as ProfileError,
    PublishError as PublishError,
    RateLimited as RateLimited,
    RowProblem as RowProblem,
    ServiceUnavailable as ServiceUnavailable,
    ServiceUnreachable as ServiceUnreachable,
    StorageError as StorageError,
    TimedOut as TimedOut,
    ToolError as ToolError,
    ToolFailed as ToolFailed,
    ToolMissing as ToolMissing,
    TransportError as TransportError,
    UnexpectedReply as UnexpectedReply,
    UnsupportedMedia as UnsupportedMedia,
    UsageError as UsageError,
    WaitTimeout as WaitTimeout,
)
from .facts import Facts as Facts, Speaker as Speaker
from .fixes import FixDone as FixDone
from .journal import (
    Journal as Journal,
    callback_server as callback_server,
    into_journal as into_journal,
)
from .journal.creations import (
    Creation as Creation,
    CreationState as CreationState,
    resolve_ended as resolve_ended,
    resolve_found as resolve_found,
    resolve_retry as resolve_retry,
)
from .journal.entries import FaceVerdict as FaceVerdict
from .journal.runs import PersonResult as PersonResult, PersonView as PersonView, RunView as RunView
from .pipelines import (
    ReplicaRequest as ReplicaRequest,
    VoiceRequest as VoiceRequest,
    decide as decide,
    make_replica as make_replica,
    make_voice as make_voice,
    validate_face as validate_face,
)
from .preflight import (
    Asset as Asset,
    Candidate as Candidate,
    Prepared as Prepared,
    Ranking as Ranking,
    check as check,
    media_workers as media_workers,
    pick_best as pick_best,
    prepare as prepare,
    same_person as same_person,
    verify_consent as verify_consent,
)
from .publish import (
    ObjectStorePublisher as ObjectStorePublisher,
    Publisher as Publisher,
    SandboxPublisher as SandboxPublisher,
    publisher_from_env as publisher_from_env,
)
from .rules import (
    Check as Check,
    Profile as Profile,
    Report as Report,
    load_profile as load_profile,
)
from .rules.consent import (
    ConsentDecision as ConsentDecision,
    ConsentDoubt as ConsentDoubt,
    ConsentEvidence as ConsentEvidence,
)
from .sandbox import Sandbox as Sandbox
from .values import Outcome as Outcome, Role as Role
from .views import Message as Message, export_dossiers as export_dossiers, to_pandas as to_pandas
from .views.terminal import Progress as Progress
from .vocabulary import FileInput as FileInput, RoleName as RoleName
from .workers import Limits as Limits

__version__: str

def load_ipython_extension(ipython: object) -> None: ...
