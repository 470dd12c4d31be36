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

LIFETIME_S = 24 * 3600.0


def sweep(service: Service) -> None:
    """Make the folder of published files; remove expired and unfinished files from it."""
    private_folder(service.assets)
    for file in service.assets.iterdir():
        asset = service.store.get("asset", file.name)
        if asset is None or asset["expires"] <= service.now():
            file.unlink()


async def receive(service: Service, name: str, chunks: AsyncIterator[bytes]) -> str:
    """Write a body to disk as it arrives. Returns its URL, which is valid for a day. On disk the
    file is named by a random token, and the store has ``name``. Raises OutputUnwritable."""
    token = secrets.token_urlsafe(18)
    with atomic_output(service.assets / token, lasting=False) as part, part.open("wb") as target:
        async for chunk in chunks:
            target.write(chunk)
    asset = {"name": name, "expires": service.now() + LIFETIME_S}
    service.store.put("asset", token, asset)
    return f"{service.base_url}/assets/{token}/{quote(name, safe='')}"


async def serve_asset(service: Service, request: Request) -> Response:
    """Answer with the published file, or the requested ranges of it; 403 if its URL has expired."""
    token, name = request.path_params["token"], request.path_params["name"]
    asset = service.store.get("asset", token)
    if asset is None or asset["name"] != name:
        return respond(JsonAnswer(404, {"error": "There is no such asset."}))
    fault = service.faults.striking(AssetFault, name=name)
    if service.now() >= asset["expires"] or (fault and fault.effect == "expired"):
        return respond(JsonAnswer(403, {"error": "This URL has expired."}))
    if fault:
        request.scope["state"]["abort"]()
        return Response()
    # By its name alone, as object stores do it.
    kind = guess_type(name)[0] or "application/octet-stream"
    return FileResponse(service.assets / token, media_type=kind)
