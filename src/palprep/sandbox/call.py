"""One request on its way through a handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from palprep.sandbox.answers import Answer
from palprep.sandbox.keys import ApiKey
from palprep.sandbox.service import Service


@dataclass(frozen=True, slots=True)
class Call:
    """``request`` is what arrived, parsed by its endpoint's declaration; ``sent`` holds the
    members of its body by their names on the wire, only those that were sent."""

    service: Service
    key: ApiKey
    request: Any
    sent: Mapping[str, Any]


Handler = Callable[[Call], Answer] | Callable[[Call], Awaitable[Answer]]
"""A plain function runs inside one transaction of the store and refuses before it writes; a
coroutine, which may wait, manages its own."""
