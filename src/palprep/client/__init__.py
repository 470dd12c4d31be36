"""The service's clients, sync and async, from the declarations in palprep.api."""

from palprep.api.wire import UNSET, Settings
from palprep.client.client import AsyncClient, Client
from palprep.client.steps import Answer, Raw

__all__ = ["UNSET", "Answer", "AsyncClient", "Client", "Raw", "Settings"]
