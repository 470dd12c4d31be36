"""A prepared file becomes a URL that the service can fetch.

A published name starts with the content's SHA-256. So the same file is published once, and a
changed file never hides behind an old URL. The name ends with the file's own extension: the
service goes by it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Protocol, Self
from urllib.parse import quote

import httpx

from palprep.errors import FixError, MediaError, PublishError
from palprep.media.given import is_file
from palprep.media.source import Source
from palprep.vocabulary import FileInput

MAX_URL_CHARS = 2048
"""``training_audio_url`` and ``callback_url``: up to 2048 characters (specification, Limits)."""

_DIGEST_CHARS = 20
"""80 bits of SHA-256. Among a million files, the chance that two share a name is below 1e-12."""

_BLOCK_BYTES = 1 << 20


class Hashed(Protocol):
    """A file whose SHA-256, in hex, is known: what ``prepare`` returns."""

    @property
    def path(self) -> Path: ...
    @property
    def sha256(self) -> str: ...


Publishable = Hashed | FileInput


class Publisher(Protocol):
    """Puts files where the service can fetch them."""

    def publish(self, file: Publishable, name: str | None = None) -> str:
        """The URL of a prepared file, or of any file, under a name that ends like ``name``.

        A file is a path, its bytes, or a binary file. By default the name is the file's own, and
        that of bytes says what they hold. Publishing the same content under the same
        name again is harmless. Raises PublishError when the file cannot be put there, or
        when its URL is longer than :data:`MAX_URL_CHARS`.
        """


@dataclass(frozen=True)
class Content:
    """What is published: a file on the disk, its SHA-256 in hex, and its own name.

    ``source`` keeps the temporary copy of bytes.
    """

    path: Path
    sha256: str
    name: str
    source: Source | None = None

    @classmethod
    def of(cls, file: Publishable) -> Content:
        """The SHA-256 is the one that a prepared file carries; another file is read for it.

        Raises PublishError when it cannot be read.
        """
        if not is_file(file):
            return cls(file.path, file.sha256, file.path.name)
        try:
            source = Source.of(file)
            name = (
                source.name
                if source.facts.has_name
                else "".join((source.stem, *source.type.extensions[:1]))
            )
            return cls(source.path, source.sha256, name, source)
        except (MediaError, FixError) as error:
            raise PublishError(f"Nothing is published: {error.message}") from None

    def stored_name(self, name: str | None = None) -> str:
        """``name`` in plain ASCII behind a prefix of the SHA-256, with an extension.

        Raises PublishError when neither ``name`` nor the file's own has an extension.
        """
        name = name or self.name
        pure = PurePosixPath(name.replace("\\", "/"))
        plain = unicodedata.normalize("NFKD", pure.stem).encode("ascii", "ignore").decode()
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", plain).strip("-")[:80] or "file"
        suffix = (pure.suffix or PurePosixPath(self.name).suffix).lower()
        if not re.fullmatch(r"\.[a-z0-9]{1,8}", suffix):
            raise PublishError(f"{name}: a published file needs its usual extension, such as .mp4")
        return f"{self.sha256[:_DIGEST_CHARS]}-{stem}{suffix}"

    @property
    def mime(self) -> str:
        """What the file is, by its content. Raises PublishError when it cannot be read."""
        try:
            return (self.source or Source.of(self.path)).type.mime
        except MediaError as error:
            raise PublishError(f"Nothing is published: {error.message}") from None


class Closing:
    """A publisher that is closed at the end of a ``with`` block."""

    def probe(self) -> tuple[str, ...]:
        """Try whether files can be published; what should be known though they can.

        Raises PublishError.
        """
        return ()

    def close(self) -> None:
        """Close the connections, where there are any."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class SandboxPublisher(Closing):
    """Publishes into the asset host of a palprep sandbox.

    ``transport`` replaces the network, as in httpx. ``timeout_s`` bounds each read and write.
    """

    def __init__(
        self,
        base_url: str,
        *,
        timeout_s: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        # An http_proxy of the environment must not stand between loopback and loopback.
        self._http = httpx.Client(
            base_url=base_url, timeout=timeout_s, transport=transport, trust_env=False
        )

    def publish(self, file: Publishable, name: str | None = None) -> str:
        """Stream the file into the sandbox. See :meth:`Publisher.publish`."""
        content = Content.of(file)
        path, stored = content.path, content.stored_name(name)
        try:
            reply = self._http.put(
                f"/_sandbox/assets/{quote(stored)}",
                content=_blocks(path),
                headers={"Content-Length": str(path.stat().st_size)},
            )
        except (httpx.HTTPError, OSError) as error:
            raise PublishError(
                f"{content.name} could not be sent to the sandbox's asset host at "
                f"{self._http.base_url}: {error or type(error).__name__}. Is it running? "
                "`palprep sandbox` starts one; for another service name a bucket to publish to "
                "(s3://, gs:// or az://)"
            ) from None
        if not reply.is_success:
            raise PublishError(
                f"The asset host at {self._http.base_url} refused {content.name} with status "
                f"{reply.status_code}. Only a palprep sandbox has this host; for another "
                "service name a bucket to publish to (s3://, gs:// or az://)"
            )
        try:
            return checked_url(str(reply.json()["url"]))
        except (ValueError, KeyError, TypeError):
            raise PublishError(
                f"The asset host at {self._http.base_url} did not say where {content.name} is"
            ) from None

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


def checked_url(url: str) -> str:
    """The URL itself. Raises PublishError when it is longer than the service takes."""
    if len(url) > MAX_URL_CHARS:
        raise PublishError(
            f"The published URL has {len(url)} characters and the service takes "
            f"{MAX_URL_CHARS}: sign with a long-lived access key, since temporary session "
            "tokens make presigned URLs long, or use a shorter prefix"
        )
    return url


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            yield block
