"""Between ASGI and handlers: bounded bodies in, answers out."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.responses import Response

from palprep.sandbox.answers import Answer

DRAIN_BYTES = 64 * 1024 * 1024


class BodyTooLarge(Exception):
    """More bytes than this route takes."""


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body, at most ``limit`` bytes; a declared length is believed before reading."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise BodyTooLarge
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise BodyTooLarge
        chunks.append(chunk)
    return b"".join(chunks)


async def drain(request: Request) -> None:
    """Read and forget what is still coming, within reason: a caller that is still sending
    when the connection closes would lose the answer that tells it why."""
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > DRAIN_BYTES:
            return


def respond(answer: Answer) -> Response:
    if answer.body is None:
        return Response(status_code=answer.status, headers=dict(answer.headers))
    return Response(
        json.dumps(answer.body, separators=(",", ":")),
        status_code=answer.status,
        headers=dict(answer.headers),
        media_type="application/json",
    )
