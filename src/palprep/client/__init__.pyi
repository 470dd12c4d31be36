from .answers import (
    Answer as Answer,
    NoAnswer as NoAnswer,
    RawResponse as RawResponse,
    Retry as Retry,
)
from .client import AnyClient as AnyClient, AsyncClient as AsyncClient, Client as Client
from .policy import (
    FIRST_POLL_S as FIRST_POLL_S,
    LOOK_EVERY_S as LOOK_EVERY_S,
    PASSING as PASSING,
    Limiter as Limiter,
)
from .resources import (
    ask as ask,
    pause as pause,
    routine as routine,
    until as until,
    work as work,
)
from .senders import RequestHook as RequestHook
from .upload import open_upload as open_upload
