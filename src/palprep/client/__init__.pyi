from .client import AnyClient as AnyClient, AsyncClient as AsyncClient, Client as Client
from .policy import (
    FIRST_POLL_S as FIRST_POLL_S,
    LOOK_EVERY_S as LOOK_EVERY_S,
    PASSING as PASSING,
    Context as Context,
    Limiter as Limiter,
    until as until,
)
from .resources import ask as ask, context_of as context_of, routine as routine
from .senders import RequestHook as RequestHook
from .steps import (
    Answer as Answer,
    Doing as Doing,
    NoAnswer as NoAnswer,
    Pause as Pause,
    RawResponse as RawResponse,
    Retry as Retry,
    work as work,
)
from .upload import open_upload as open_upload
