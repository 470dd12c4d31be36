"""The service's clients, sync and async, from the declarations in palprep.api."""

from palprep.api.wire import UNSET, AccountSettings
from palprep.client.client import AsyncClient, Client
from palprep.client.steps import Answer, NoAnswer, RawResponse, Retry

__all__ = [
    "UNSET",
    "AccountSettings",
    "Answer",
    "AsyncClient",
    "Client",
    "NoAnswer",
    "RawResponse",
    "Retry",
]
