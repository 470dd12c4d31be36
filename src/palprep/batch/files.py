"""A person's file as it was given: on this machine, or somewhere else."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from pydantic import Field

from palprep.api.fields import is_https
from palprep.values import Value


def is_url(text: str) -> bool:
    """Whether it is a URL, of whatever kind, and no path."""
    return "://" in text


def is_web(url: str) -> bool:
    """Whether it is an address that files are fetched from: HTTPS, or HTTP on this machine."""
    return is_https(url, loopback=True)


class RemoteFile(Value):
    """A file at a URL: in a bucket, or on the web.

    ``size_bytes`` and ``etag`` are known of one that a bucket has listed.
    """

    url: str = Field(repr=False)
    """All of it. A signed link gives the file to whoever has it: nothing shows or records this."""
    size_bytes: int | None = None
    etag: str | None = None

    @property
    def shown(self) -> str:
        """The address without what may be secret: user, password, query and fragment."""
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"}:
            return self.url  # A name in a bucket may hold a question mark.
        host = parts.netloc.rpartition("@")[2]
        return parts._replace(netloc=host, query="", fragment="").geturl()

    @property
    def name(self) -> str:
        """What the file is called where it lies."""
        path = self.shown.partition("://")[2].partition("/")[2]
        last = path.rstrip("/").rpartition("/")[2]
        return unquote(last) if self.shown.startswith("http") else last

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        """The name's suffix, with its dot."""
        return PurePosixPath(self.name).suffix

    def __str__(self) -> str:
        return self.shown


File = Path | RemoteFile
