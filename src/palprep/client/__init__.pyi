from .client import AnyClient as AnyClient, AsyncClient as AsyncClient, Client as Client
from .resources import (
    LOOK_EVERY_S as LOOK_EVERY_S,
    PASSING as PASSING,
    answered as answered,
    open_upload as open_upload,
    pause as pause,
    polls as polls,
    routine as routine,
    until as until,
    work as work,
)
from .senders import (
    Answer as Answer,
    Limiter as Limiter,
    NoAnswer as NoAnswer,
    RawResponse as RawResponse,
    RequestHook as RequestHook,
)
from .settings import checked_base_url as checked_base_url, time_of as time_of
