"""A recorded request, asked again."""

from __future__ import annotations

import httpx
from starlette.types import ASGIApp

from palprep.sandbox.keys import KeyRing
from palprep.sandbox.recorder import RecordedRequest


async def replayed(app: ASGIApp, keys: KeyRing, recorded: RecordedRequest, base_url: str) -> None:
    """Ask ``app`` as it was asked, with a key of the same scope; its answer tells nothing new."""
    headers = {} if recorded.if_match is None else {"if-match": recorded.if_match}
    if recorded.key is not None:
        headers["x-api-key"] = keys.first(user_scoped=recorded.key == "user") or ""
    request = httpx.Request(
        recorded.method, base_url + recorded.target, headers=headers, content=recorded.body
    )
    response = await httpx.ASGITransport(app=app).handle_async_request(request)
    await response.aread()
