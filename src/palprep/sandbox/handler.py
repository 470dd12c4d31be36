"""What handlers take and give back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from palprep.sandbox.answers import JsonAnswer
from palprep.sandbox.keys import ApiKey
from palprep.sandbox.service import Service


@dataclass(frozen=True, slots=True)
class HandlerContext:
    """What a handler works with.

    ``request`` is what arrived, parsed by its endpoint's declaration. ``sent`` holds the members
    of its body that were sent, by their names on the wire.
    """

    service: Service
    key: ApiKey
    request: Any
    sent: Mapping[str, Any]


Handler = Callable[[HandlerContext], JsonAnswer] | Callable[[HandlerContext], Awaitable[JsonAnswer]]
"""Answers one request, or raises :class:`~palprep.sandbox.answers.Refused`.

A plain function runs inside one transaction of the store, and refuses before it writes. A
coroutine may wait, and opens transactions of its own."""
