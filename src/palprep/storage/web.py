"""A file on the web: its size, and its content, over HTTPS.

No credentials are sent. A signed link carries its own: no message shows the query of a link.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from palprep.errors import StorageError
from palprep.storage.files import Fetched, GoOn, Stored, too_large, without_secrets, written
from palprep.system import in_daemon_thread

H = TypeVar("H")

_SILENT_FOR_S = 60.0
"""The longest pause of a server."""
_REDIRECTS = 5

_BUSY = "the server is busy, or has a problem. Try again"
_STATUSES = {
    401: "it asks for credentials. Sign the link, or put the file into a bucket",
    403: "it may not be read. A signed link may have expired: sign it again",
    404: "there is no such file",
    410: "the file is gone",
    429: _BUSY,
}

UNASKABLE = (httpx.HTTPError, httpx.InvalidURL, UnicodeError, OverflowError, OSError)
"""What a request can raise; UnicodeError for a host that is not a name (``http://xn--/``),
OverflowError for a port above 65535, OSError for TLS that breaks in async code (ssl.SSLError)."""


def resolved(host: str) -> list[str]:
    """The addresses of a host's name. Raises OSError for one that is not known."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, None)]


def http_client(kind: Callable[..., H], **options: Any) -> H:
    """A client of httpx. Raises StorageError for a proxy, or certificates, that cannot be used."""
    try:
        return kind(**options)
    except httpx.InvalidURL:
        why = "the proxy's address cannot be read"  # httpx quotes it, and a password may be in it.
    except (ImportError, ValueError, OSError) as error:
        why = str(error).rstrip(".")
    raise StorageError(
        f"This proxy, or these certificates, cannot be used: {why}. Check what HTTPS_PROXY, "
        "HTTP_PROXY, ALL_PROXY and SSL_CERT_FILE name"
    )


def look_at_url(url: str, *, transport: httpx.BaseTransport | None = None) -> Stored:
    """The file's size, -1 where the server states none, and its tag. Raises StorageError.

    A link that is signed for GET refuses HEAD. So this is a GET whose body is not read.
    """
    with _opened(url, transport) as reply:
        size = int(reply.headers.get("content-length", -1))
        return Stored(without_secrets(url), size, _tag(reply))


def fetch_url(
    url: str,
    to: Path,
    *,
    max_bytes: int,
    within_s: float = 3600.0,
    go_on: GoOn | None = None,
    transport: httpx.BaseTransport | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Fetched:
    """Write the file to ``to``, which does not exist before all of it has arrived.

    ``go_on`` is called again and again meanwhile, and what it raises ends the fetching.
    ``transport`` and ``clock`` replace the real ones. Raises StorageError, also for
    more than ``max_bytes``, or more than ``within_s`` seconds; OutputUnwritable for a full disk.
    """
    until = clock() + within_s
    shown = without_secrets(url)

    def pieces(reply: httpx.Response) -> Iterator[bytes]:
        left = max_bytes
        try:
            for piece in reply.iter_bytes():  # As they arrive: the clock is looked at after each.
                left -= len(piece)
                if left < 0:
                    raise too_large(shown, max_bytes)
                if clock() > until:
                    raise StorageError(
                        f"{shown} has not arrived within {within_s:g} s. Try again, or copy the "
                        "file to this machine"
                    )
                yield piece
        except httpx.HTTPError as error:
            raise StorageError(
                f"The transfer of {shown} was cut off ({error or type(error).__name__}). Try again"
            ) from None

    with _opened(url, transport, min(within_s, _SILENT_FOR_S)) as reply:
        return Fetched(*written(pieces(reply), to, go_on), _tag(reply))


@contextlib.contextmanager
def _opened(
    url: str, transport: httpx.BaseTransport | None, silent_for_s: float = _SILENT_FOR_S
) -> Iterator[httpx.Response]:
    """The reply with the file, of which only the head has been read. Its head, and those of all
    redirects, have ``silent_for_s`` seconds together."""
    private, shown = _is_private(url), without_secrets(url)
    with contextlib.ExitStack() as stack:
        # A proxy of the environment must not stand between loopback and loopback.
        options = {"timeout": silent_for_s, "transport": transport, "trust_env": not private}
        client = stack.enter_context(http_client(httpx.Client, **options))
        # If it were compressed on the way, the stated size would not be that of the file.
        headers = {"Accept-Encoding": "identity"}
        at, until = url, time.monotonic() + silent_for_s
        for _ in range(_REDIRECTS + 1):
            try:
                request = client.build_request("GET", at, headers=headers)
                # The library bounds single reads, and a head that drips takes any number of them.
                sent = in_daemon_thread(partial(client.send, request, stream=True))
                reply = sent.result(max(until - time.monotonic(), 0.0))
                stack.callback(reply.close)
            except UNASKABLE as error:
                late = isinstance(error, TimeoutError | httpx.TimeoutException)
                why = "the server did not answer in time" if late else str(error).rstrip(".")
                raise StorageError(
                    f"{shown} cannot be fetched: {why or type(error).__name__}. Check the address "
                    "and the network"
                ) from None
            if reply.next_request is None:
                if reply.status_code == httpx.codes.OK:
                    yield reply
                    return
                status = reply.status_code
                why = _STATUSES.get(status, _BUSY if status >= 500 else "check the address")
                raise StorageError(f"{shown} cannot be fetched, with status {status}: {why}")
            at = str(reply.next_request.url)
            if not private:
                _require_public(at, shown)
        raise StorageError(
            f"{shown} redirects more than {_REDIRECTS} times. Give the address that it ends at"
        )


def _require_public(at: str, shown: str) -> None:
    """Do not follow a public link to plain HTTP or into a private network.

    Otherwise whoever writes a link could make this machine read what only it can reach. A name may
    resolve to another address by the time it is used: this does not replace a firewall.
    """
    if urlsplit(at).scheme != "https":
        raise StorageError(f"{shown} redirects to an address without https, and is not fetched")
    if _is_private(at):
        raise StorageError(
            f"{shown} redirects into a private network, and is not fetched. If that is what you "
            "want, give the address there itself"
        )


def _is_private(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
        return any(not ipaddress.ip_address(each).is_global for each in resolved(host))
    except (OSError, ValueError):
        return False  # An unknown name fails when it is fetched.


def _tag(reply: httpx.Response) -> str | None:
    """What changes when the file changes."""
    found: str | None = reply.headers.get("etag") or reply.headers.get("last-modified")
    return found
