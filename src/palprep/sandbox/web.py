"""Between ASGI and handlers: bounded bodies in, answers out."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.responses import Response

from palprep.errors import PalprepError
from palprep.sandbox.answers import JsonAnswer

DISCARD_BYTES = 64 * 1024 * 1024


class BodyTooLarge(PalprepError):
    """More bytes than this route takes."""

    code = "body_too_large"


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body, with at most ``limit`` bytes in memory.

    Raises :class:`BodyTooLarge` for more. The rest of such a body is read and thrown away
    first: a caller that is still sending when the connection closes never sees the answer.
    """
    declared = request.headers.get("content-length", "")
    keep = not (declared.isdecimal() and int(declared) > limit)
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        keep = keep and size <= limit
        if keep:
            chunks.append(chunk)
        elif size > DISCARD_BYTES:
            break
    if not keep:
        raise BodyTooLarge(f"The body is too large: at most {limit} bytes are taken.")
    return b"".join(chunks)


def respond(answer: JsonAnswer) -> Response:
    """The answer as Starlette sends it."""
    if answer.body is None:
        return Response(status_code=answer.status, headers=dict(answer.headers))
    return Response(
        json.dumps(answer.body, separators=(",", ":")),
        status_code=answer.status,
        headers=dict(answer.headers),
        media_type="application/json",
    )
