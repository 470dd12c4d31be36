"""A person's file as it was given: on this machine, or somewhere else."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from pydantic import Field

from palprep.api.fields import is_https
from palprep.storage.arriving import without_secrets
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
        # A name in a bucket may hold a question mark.
        return without_secrets(self.url) if is_web(self.url) else self.url

    @property
    def name(self) -> str:
        """What the file is called where it lies."""
        path = self.shown.partition("://")[2].partition("/")[2]
        last = path.rstrip("/").rpartition("/")[2]
        return unquote(last) if is_web(self.url) else last

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
