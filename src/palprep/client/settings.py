"""What a client is given, checked: the service's address and the key to it, times, and the time of
a sandbox."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import anyio.to_thread
import httpx
from pydantic import SecretStr

from palprep.api import Unset
from palprep.api.records import is_header_value, is_link
from palprep.errors import UsageError
from palprep.values import require_type

Timeout: TypeAlias = float | httpx.Timeout | Unset | None
"""Seconds for each connect, read and write; None for no end."""

LONGEST_S = 2_000_000.0
"""23 days: a socket takes its timeout in milliseconds of 31 bits."""

_PORTS = {"http": ":80", "https": ":443"}


def checked_key(api_key: str) -> SecretStr:
    """The key. Raises :class:`~palprep.errors.UsageError` for one that no header can carry."""
    if not api_key or not isinstance(api_key, str) or not is_header_value(api_key):
        raise UsageError(
            "The API key is empty or holds characters that no HTTP header takes. Check "
            "api_key, or PALPREP_API_KEY."
        )
    return SecretStr(api_key)


def checked_base_url(url: str) -> str:
    """The address before every path, spelt in one way (RFC 3986, section 6.2), without a slash at
    its end: what was created is known under it. Raises :class:`~palprep.errors.UsageError` for
    another."""
    # os.environ.get() gives None for what is not set.
    url = url if isinstance(url, str) else str(url or "")
    if not is_link(url) or "?" in url or "#" in url or urlsplit(url).username is not None:
        # A name and a password in it are somebody's secret, and so may be a query.
        shown = re.sub(r"(?s)^([a-z]+://)?.*@", r"\1***@", url)
        shown = re.sub(r"(?s)\?.+", "?***", shown)
        raise UsageError(
            f"The base URL {shown!r} is not of the form "
            "https://HOST[:PORT][/PATH]. Check base_url, or PALPREP_BASE_URL."
        )
    parts = urlsplit(url)
    host = parts.netloc.lower().removesuffix(_PORTS[parts.scheme])
    trimmed = f"{parts.scheme}://{host}{parts.path}".rstrip("/")
    if trimmed.endswith("/v2"):
        raise UsageError("Leave /v2 out of the base URL: every path starts with it already.")
    return trimmed


def limits_of(timeout: float | httpx.Timeout | None) -> Mapping[str, float | None]:
    """Seconds for connect, read, write and pool."""
    if isinstance(timeout, int | float):
        if not timeout > 0:
            raise UsageError(f"timeout takes more than 0 seconds, not {timeout:g}")
        timeout = min(timeout, LONGEST_S)
    require_type("timeout", timeout, float | httpx.Timeout | None)
    return httpx.Timeout(timeout).as_dict()


@dataclass
class SandboxTime:
    """The time of the sandbox that listens at ``base_url``: whoever sleeps by it moves its clock.
    While nothing listens there, the clock stands still and sleep is real. Each method raises
    :class:`~palprep.errors.UsageError` where something else answers."""

    base_url: str
    last: float = field(default_factory=time.time)

    def clock(self) -> float:
        self._ask("GET")
        return self.last

    def sleep(self, seconds: float) -> None:
        """Advance the clock. On an event loop, which perhaps serves callbacks itself, no answer
        of theirs is waited for longer than half a second."""
        asked: dict[str, float] = {"advance": seconds}
        with contextlib.suppress(RuntimeError):
            asyncio.get_running_loop()
            asked["answered_within"] = 0.5
        if self._ask("POST", json.dumps(asked)) is None:
            time.sleep(seconds)

    async def sleep_async(self, seconds: float) -> None:
        """The same in a thread: what falls due may call back to this event loop."""
        await anyio.to_thread.run_sync(self.sleep, seconds)

    def _ask(self, method: str, body: str | None = None) -> float | None:
        address = urlsplit(self.base_url)
        connection = HTTPConnection(address.hostname or "", address.port)
        try:
            with contextlib.closing(connection):
                connection.request(method, address.path.rstrip("/") + "/_sandbox/clock", body)
                self.last = float(json.load(connection.getresponse())["now"])
        except ConnectionError:
            return None  # The request itself says that nothing listens.
        except (OSError, HTTPException, ValueError, KeyError, TypeError):
            raise UsageError(
                f"PALPREP_TIME is sandbox, and none answers at {self.base_url}. Start one, or "
                "unset PALPREP_TIME."
            ) from None
        return self.last


def time_of(
    variables: Mapping[str, str], base_url: str, *, awaited: bool = False
) -> dict[str, Callable[..., Any]]:
    """``clock`` and ``sleep`` of the sandbox there, where PALPREP_TIME says so; else nothing."""
    if variables.get("PALPREP_TIME") != "sandbox":
        return {}
    told = SandboxTime(base_url)
    return {"clock": told.clock, "sleep": told.sleep_async if awaited else told.sleep}
