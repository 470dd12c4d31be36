"""The service's clients, sync and async, from the declarations in palprep.api."""

from palprep.client.client import AsyncClient, Client
from palprep.client.steps import Answer, Raw

__all__ = ["Answer", "AsyncClient", "Client", "Raw"]
