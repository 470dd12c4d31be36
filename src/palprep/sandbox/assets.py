"""The asset host: published media, behind URLs that no one can guess and that expire."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from palprep.sandbox.answers import JsonAnswer, respond
from palprep.sandbox.clock import SandboxClock
from palprep.sandbox.faults import Faults
from palprep.sandbox.store import Store
from palprep.serving import BodyTooLarge

# By the name it was published under, as an object store would: the bytes are not looked at.
CONTENT_TYPES = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
    ".heic": "image/heic",
    ".heif": "image/heif",
    ".mp3": "audio/mpeg",
    ".wav": "audio/wav",
    ".m4a": "audio/mp4",
    ".flac": "audio/flac",
    ".ogg": "audio/ogg",
    ".oga": "audio/ogg",
    ".webm": "video/webm",
    ".mp4": "video/mp4",
    ".mov": "video/quicktime",
}


class Assets:
    """Files under random tokens in ``folder``; their names live in the store alone."""

    def __init__(
        self, folder: Path, store: Store, clock: SandboxClock, faults: Faults, *, max_bytes: int
    ) -> None:
        self._folder = folder
        self._store = store
        self._clock = clock
        self._faults = faults
        self._max_bytes = max_bytes
        folder.mkdir(parents=True, exist_ok=True)
        for torn in folder.glob("*.part"):
            torn.unlink()

    async def receive(self, name: str, chunks: AsyncIterator[bytes], *, lifetime: float) -> str:
        """Stream a body to disk; the token of its URL, which is good for ``lifetime`` seconds.

        Raises :class:`~palprep.serving.BodyTooLarge`, and OSError when the disk refuses. Then
        nothing stays behind.
        """
        token, size = secrets.token_urlsafe(18), 0
        part = self._folder / f"{token}.part"
        try:
            with part.open("wb") as target:
                async for chunk in chunks:
                    size += target.write(chunk)
                    if size > self._max_bytes:
                        raise BodyTooLarge(
                            f"The asset host takes no file of more than {self._max_bytes} bytes."
                        )
            part.rename(self._folder / token)
        finally:
            part.unlink(missing_ok=True)
        now = self._clock.now()
        self._store.execute(
            "INSERT INTO assets VALUES (?, ?, ?, ?, ?)", (token, name, size, now, now + lifetime)
        )
        return token

    async def serve(self, request: Request) -> Response:
        """The published file, whole or in ranges; 403 when its URL has expired."""
        token, name = request.path_params["token"], request.path_params["name"]
        row = self._store.execute(
            "SELECT expires FROM assets WHERE token = ? AND name = ?", (token, name)
        ).fetchone()
        if row is None:
            return respond(JsonAnswer(404, {"error": "There is no such asset."}))
        fault = self._faults.for_asset(name)
        if self._clock.now() >= row[0] or (fault and fault.effect == "expired"):
            return respond(JsonAnswer(403, {"error": "This URL has expired."}))
        if fault:
            request.scope["state"]["abort"]()
            return Response()
        kind = CONTENT_TYPES.get(Path(name).suffix.lower(), "application/octet-stream")
        return FileResponse(self._folder / token, media_type=kind)

    def clear(self) -> None:
        """Delete every published file."""
        for path in self._folder.iterdir():
            path.unlink()
