"""Outbound requests: where they may go, and how much of an answer is taken."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from palprep.api.fields import is_loopback
from palprep.errors import PalprepError

TIMEOUT_S = 60.0
MAX_REDIRECTS = 5
"""What the outbound client follows; see the choice ``training-fetches-late``."""
ANSWER_BYTES = 64 * 1024
"""So much is read of an answer that is no media."""


UNASKABLE = (httpx.HTTPError, httpx.InvalidURL, UnicodeError)
"""What asking an address can raise; UnicodeError for a host that is no name (``http://xn--/``)."""


class FetchFailed(PalprepError):
    """The media could not be fetched; the text says why and goes to the caller."""

    code = "fetch_failed"


class ElsewhereError(httpx.RequestError):
    """A request to another machine, from a sandbox that asks this one alone."""


def refuse_elsewhere(host: str) -> None:
    """Raises :class:`ElsewhereError` unless ``host`` is this machine."""
    if not is_loopback(host):
        raise ElsewhereError(
            f"{host} is not this machine, and this sandbox asks no other: allow it by "
            '--outbound anywhere, or Choices(outbound="anywhere")'
        )


def outbound_client(tls: ssl.SSLContext | None, *, anywhere: bool) -> httpx.AsyncClient:
    """For callbacks, media and tools. A proxy of the environment is for the world outside.

    Unless ``anywhere`` is allowed, each request, one that follows a redirect too, must be to
    this machine.
    """

    async def check(request: httpx.Request) -> None:
        refuse_elsewhere(request.url.host)

    loopback = ("all://127.0.0.1", "all://localhost", "all://[::1]")
    return httpx.AsyncClient(
        verify=True if tls is None else tls,
        mounts=dict.fromkeys(loopback),
        max_redirects=MAX_REDIRECTS,
        event_hooks={"request": [] if anywhere else [check]},
    )


async def fetch(
    http: httpx.AsyncClient, url: str, into: Path, *, max_bytes: int, within_s: float
) -> None:
    """Stream the body at ``url`` into the file ``into``, ``max_bytes`` and ``within_s`` at most.

    Follows as many redirects as ``http`` allows. Raises :class:`FetchFailed` for anything that
    is not a complete, non-empty 200.
    """
    if urlsplit(url).scheme not in {"http", "https"}:
        raise FetchFailed(f"The file could not be downloaded: {url!r} is not an http or https URL.")
    try:
        async with (
            asyncio.timeout(within_s),
            http.stream("GET", url, follow_redirects=True, timeout=TIMEOUT_S) as response,
        ):
            if response.status_code != httpx.codes.OK:
                raise FetchFailed(
                    f"The file could not be downloaded: its host answered {response.status_code}."
                )
            await _save(response, into, max_bytes)
    except httpx.TooManyRedirects as error:
        raise FetchFailed(
            "The file could not be downloaded: its host redirected more than "
            f"{http.max_redirects} times."
        ) from error
    except TimeoutError as error:
        raise FetchFailed(
            f"The file could not be downloaded: it took more than {within_s:g} s."
        ) from error
    except UNASKABLE as error:
        raise FetchFailed(
            f"The file could not be downloaded: {str(error) or type(error).__name__}."
        ) from error


async def _save(response: httpx.Response, into: Path, max_bytes: int) -> None:
    size = 0
    with into.open("wb") as target:
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > max_bytes:
                raise FetchFailed(f"The file is too large: more than {max_bytes} bytes.")
            target.write(chunk)
    if size == 0:
        raise FetchFailed("The file is empty.")


async def beginning(response: httpx.Response) -> str:
    """The first 64 KiB of an answer as text; the rest is not read."""
    content = b""
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) >= ANSWER_BYTES:
            break
    return content[:ANSWER_BYTES].decode("utf-8", "replace")
