"""Fetching published media the way the service does: over HTTP, from its URL."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import httpx

from palprep.errors import PalprepError

TIMEOUT_S = 60.0
MAX_REDIRECTS = 5
"""What the outbound client follows; see the choice ``training-fetches-late``."""


class FetchFailed(PalprepError):
    """The media could not be fetched; the text says why and goes to the caller."""

    code = "fetch_failed"


async def fetch(http: httpx.AsyncClient, url: str, into: Path, *, max_bytes: int) -> None:
    """Stream the body at ``url`` into the file ``into``, ``max_bytes`` at most.

    Follows as many redirects as ``http`` allows. Raises :class:`FetchFailed` for anything that
    is not a complete, non-empty 200.
    """
    if urlsplit(url).scheme not in {"http", "https"}:
        raise FetchFailed(f"The file could not be downloaded: {url!r} is not an http or https URL.")
    try:
        async with http.stream("GET", url, follow_redirects=True, timeout=TIMEOUT_S) as response:
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
    except (httpx.HTTPError, httpx.InvalidURL) as error:
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
