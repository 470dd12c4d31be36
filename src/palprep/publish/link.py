"""A link is tried as the service will use it: a plain GET, without credentials."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx

from palprep.errors import PublishError

_TIMEOUT_S = 30.0
BEGINNING_BYTES = 4096
"""How much of a link's content is read and compared."""
_LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")


class Expected(NamedTuple):
    """What a link must give: its size, its type, and its first bytes."""

    size_bytes: int
    mime: str
    beginning: bytes

    @classmethod
    def of(cls, path: Path, mime: str) -> Expected:
        """What the link to a file must give. Raises OSError."""
        with path.open("rb") as file:
            beginning = file.read(BEGINNING_BYTES)
        return cls(path.stat().st_size, mime, beginning)


def link_client(transport: httpx.BaseTransport | None = None) -> httpx.Client:
    """The client that tries links. It uses a proxy of the environment, but not to loopback."""
    mounts = dict.fromkeys(_LOOPBACK, transport)
    return httpx.Client(
        transport=transport, mounts=mounts, timeout=_TIMEOUT_S, follow_redirects=True
    )


def try_link(http: httpx.Client, url: str, expected: Expected) -> None:
    """Fetch the beginning of what ``url`` gives, and compare length, type and bytes.

    Raises PublishError, whose message holds no signature, when the link does not work or gives
    something else.
    """
    where = urlsplit(url)
    shown = f"The link to {where.path.rpartition('/')[2]} at {where.hostname}"
    try:
        with http.stream("GET", url, headers={"Accept-Encoding": "identity"}) as response:
            if response.status_code != httpx.codes.OK:
                raise PublishError(
                    f"{shown} does not work: a GET without credentials gets status "
                    f"{response.status_code}. The service would get the same; let whoever has a "
                    "signed link read this prefix"
                )
            found = _found(response)
    except httpx.HTTPError as error:
        raise PublishError(
            f"{shown} does not work from here: {error or type(error).__name__}. The service could "
            "not fetch it either"
        ) from None
    if found != expected:
        raise PublishError(
            f"{shown} gives {_difference(found, expected)}. Something between here and the bucket "
            "changes files, or something else was written under this name"
        )


def _difference(found: Expected, expected: Expected) -> str:
    if found.size_bytes != expected.size_bytes:
        return f"{found.size_bytes:,} bytes instead of {expected.size_bytes:,}"
    if found.mime != expected.mime:
        what = f"the type {found.mime}" if found.mime else "no type"
        return f"{what} instead of {expected.mime}"
    return "other content than was written"


def _found(response: httpx.Response) -> Expected:
    """What the answer says and how it begins; the rest is not read."""
    beginning = b""
    for piece in response.iter_bytes(BEGINNING_BYTES):
        beginning += piece
        if len(beginning) >= BEGINNING_BYTES:
            break
    length = response.headers.get("content-length", "")
    return Expected(
        size_bytes=int(length) if length.isdigit() else len(beginning),
        mime=response.headers.get("content-type", "").partition(";")[0].strip().lower(),
        beginning=beginning[:BEGINNING_BYTES],
    )
