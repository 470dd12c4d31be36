"""The asset host: published media, behind URLs that no one can guess and that expire."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

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


@dataclass(frozen=True, slots=True)
class Asset:
    """One published file: the ``token`` and the ``name`` of its URL, and when that ``expires``,
    in seconds since the epoch."""

    token: str
    name: str
    path: Path
    expires: float

    @property
    def content_type(self) -> str:
        """By the suffix of its name; ``application/octet-stream`` for any other."""
        return CONTENT_TYPES.get(Path(self.name).suffix.lower(), "application/octet-stream")


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

    async def receive(self, name: str, chunks: AsyncIterator[bytes], *, lifetime: float) -> Asset:
        """Stream a body to disk; its URL is good for ``lifetime`` seconds.

        Raises :class:`~palprep.serving.BodyTooLarge`, and OSError when the disk refuses. Then
        nothing stays behind.
        """
        token = secrets.token_urlsafe(18)
        part = self._folder / f"{token}.part"
        try:
            with part.open("wb") as target:
                size = await self._copy(chunks, target)
            final = part.rename(self._folder / token)
        finally:
            part.unlink(missing_ok=True)
        now = self._clock.now()
        self._store.execute(
            "INSERT INTO assets VALUES (?, ?, ?, ?, ?)", (token, name, size, now, now + lifetime)
        )
        return Asset(token, name, final, now + lifetime)

    async def _copy(self, chunks: AsyncIterator[bytes], target: BinaryIO) -> int:
        size = 0
        async for chunk in chunks:
            size += len(chunk)
            if size > self._max_bytes:
                raise BodyTooLarge(
                    f"The asset host takes no file of more than {self._max_bytes} bytes."
                )
            target.write(chunk)
        return size

    async def serve(self, request: Request) -> Response:
        """The published file, whole or in ranges; 403 when its URL has expired."""
        asset = self._find(request.path_params["token"], request.path_params["name"])
        if asset is None:
            return respond(JsonAnswer(404, {"error": "There is no such asset."}))
        fault = self._faults.for_asset(asset.name)
        if self._clock.now() >= asset.expires or (fault and fault.effect == "expired"):
            return respond(JsonAnswer(403, {"error": "This URL has expired."}))
        if fault:
            request.scope["state"]["abort"]()
            return Response()
        return FileResponse(asset.path, media_type=asset.content_type)

    def _find(self, token: str, name: str) -> Asset | None:
        row = self._store.execute(
            "SELECT token, name, expires FROM assets WHERE token = ? AND name = ?", (token, name)
        ).fetchone()
        return None if row is None else Asset(row[0], row[1], self._folder / row[0], row[2])

    def clear(self) -> None:
        """Delete every published file."""
        for path in self._folder.iterdir():
            path.unlink()
