"""What is published, and under which name.

A published name starts with the content's SHA-256. So the same file is published once, and a
changed file never hides behind an old URL. The name ends with the file's own extension: the
service goes by it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, runtime_checkable

from palprep.errors import FixError, MediaError, PublishError
from palprep.media.sources import Source, is_file, no_file, sha256_of
from palprep.vocabulary import FileInput

MAX_URL_CHARS = 2048
"""``training_audio_url`` and ``callback_url``: up to 2048 characters (specification, Limits)."""

_DIGEST_CHARS = 20
"""80 bits of SHA-256. Among a million files, the chance that two share a name is below 1e-12."""


class Hashed(Protocol):
    """A file whose SHA-256, in hex, and MIME type are known: what ``prepare`` returns."""

    @property
    def path(self) -> Path: ...
    @property
    def sha256(self) -> str: ...
    @property
    def mime(self) -> str | None: ...


Publishable = Hashed | FileInput


@runtime_checkable
class Publisher(Protocol):
    """Puts files where the service can fetch them."""

    def publish(self, file: Any, name: str | None = None) -> str:
        """The URL of a prepared file, or of any file, under a name that ends like ``name``.

        ``make_voice``, ``make_replica`` and ``run`` give what ``prepare`` returns: a publisher of
        your own may take a ``Prepared`` alone. Those of palprep also take a path, bytes, or a
        binary file. By default the name is the file's own; bytes are named by their type.
        Publishing the same content under the same name again is harmless.
        Raises PublishError when the file cannot be published, or when its URL is longer than
        :data:`MAX_URL_CHARS`.
        """


@dataclass(frozen=True)
class Content:
    """What is published: a file on disk, its SHA-256 in hex, its own name and its MIME type.

    ``source`` keeps the temporary copy of bytes.
    """

    path: Path
    sha256: str
    name: str
    mime: str = ""
    source: Source | None = None

    @classmethod
    def of(cls, file: Publishable) -> Content:
        """The content of a file, which is read for its SHA-256.

        Raises PublishError when it cannot be read, and for a prepared file that has changed since
        it was judged.
        """
        try:
            if not is_file(file):
                if not hasattr(file, "sha256"):
                    raise no_file(file)
                mime = file.mime or Source.of(file.path).type.mime
                judged = cls(file.path, file.sha256, file.path.name, mime)
                judged.require_unchanged()
                return judged
            source = Source.of(file)
            named = "".join((source.stem, *source.type.extensions[:1]))
            name = source.name if source.facts.has_name else named
            return cls(source.path, source.sha256, name, source.type.mime, source)
        except OSError as error:
            what = getattr(file, "path", "The file")
            raise PublishError(
                f"{what} cannot be read ({error.strerror}): prepare it again"
            ) from None
        except (MediaError, FixError) as error:
            raise PublishError(f"Nothing is published: {error.message}") from None

    def require_unchanged(self) -> None:
        """Raises PublishError when the file has changed. To be called before the file is sent and
        after, so that the URL of a file that replaced it meanwhile is never handed out."""
        if sha256_of(self.path) != self.sha256:
            raise PublishError(f"{self.path} has changed since it was judged: prepare it again")

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


def checked_url(url: str) -> str:
    """The URL itself. Raises PublishError when it is longer than the service takes."""
    if len(url) > MAX_URL_CHARS:
        raise PublishError(
            f"The published URL has {len(url)} characters and the service takes "
            f"{MAX_URL_CHARS}: sign with a long-lived access key, since temporary session "
            "tokens make presigned URLs long, or use a shorter prefix"
        )
    return url
