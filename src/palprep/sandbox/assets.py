"""The asset host: published media, behind URLs that no one can guess and that expire."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from mimetypes import guess_type
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from palprep.sandbox.answers import JsonAnswer, respond
from palprep.sandbox.faults import AssetFault
from palprep.sandbox.service import Service
from palprep.storage import atomic_output, private_folder


def sweep(service: Service) -> None:
    """Make the folder of published files, without what has expired or was left torn."""
    private_folder(service.assets)
    expired = "SELECT token FROM assets WHERE expires <= ?"
    for (token,) in service.store.execute(expired, (service.now(),)):
        (service.assets / token).unlink(missing_ok=True)
    for torn in service.assets.glob("*.part"):
        torn.unlink()


async def receive(
    service: Service, name: str, chunks: AsyncIterator[bytes], *, lifetime: float
) -> str:
    """Stream a body to disk; its URL, which is good for ``lifetime`` seconds. The file has a random
    token for its name; its own is in the store alone. Raises OutputUnwritable."""
    token, size = secrets.token_urlsafe(18), 0
    with atomic_output(service.assets / token, lasting=False) as part, part.open("wb") as target:
        async for chunk in chunks:
            size += target.write(chunk)
    now = service.now()
    service.store.execute(
        "INSERT INTO assets VALUES (?, ?, ?, ?, ?)", (token, name, size, now, now + lifetime)
    )
    return f"{service.base_url}/assets/{token}/{quote(name, safe='')}"


async def serve_asset(service: Service, request: Request) -> Response:
    """The published file, whole or in ranges; 403 when its URL has expired."""
    token, name = request.path_params["token"], request.path_params["name"]
    row = service.store.execute(
        "SELECT expires FROM assets WHERE token = ? AND name = ?", (token, name)
    ).fetchone()
    if row is None:
        return respond(JsonAnswer(404, {"error": "There is no such asset."}))
    fault = service.faults.striking(AssetFault, name=name)
    if service.now() >= row[0] or (fault and fault.effect == "expired"):
        return respond(JsonAnswer(403, {"error": "This URL has expired."}))
    if fault:
        request.scope["state"]["abort"]()
        return Response()
    # By its name, as an object store has it: the bytes are not looked at.
    kind = guess_type(name)[0] or "application/octet-stream"
    return FileResponse(service.assets / token, media_type=kind)
