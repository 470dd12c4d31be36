"""Checks of a client's settings (base URL, key, timeout), and the clock of a sandbox."""

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
"""Seconds for each connect, read and write; None for no limit."""

LONGEST_S = 2_000_000.0
"""23 days. A socket takes its timeout as milliseconds in 31 bits."""

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
    """The base URL, normalised (RFC 3986, section 6.2) and without a slash at its end: the journal
    identifies the service by it. Raises :class:`~palprep.errors.UsageError` for anything else."""
    # os.environ.get() gives None for what is not set.
    url = url if isinstance(url, str) else str(url or "")
    if not is_link(url) or "?" in url or "#" in url or urlsplit(url).username is not None:
        # User name, password and query may be secrets.
        masked = re.sub(r"(?s)^([a-z]+://)?.*@", r"\1***@", url)
        masked = re.sub(r"(?s)\?.+", "?***", masked)
        raise UsageError(
            f"The base URL {masked!r} is not of the form "
            "https://HOST[:PORT][/PATH]. Check base_url, or PALPREP_BASE_URL."
        )
    parts = urlsplit(url)
    host = parts.netloc.lower().removesuffix(_PORTS[parts.scheme])
    trimmed = f"{parts.scheme}://{host}{parts.path}".rstrip("/")
    if trimmed.endswith("/v2"):
        raise UsageError("Leave /v2 out of the base URL: every path starts with it already.")
    return trimmed


def limits_of(timeout: float | httpx.Timeout | None) -> Mapping[str, float | None]:
    """The timeout as httpx takes it: seconds for connect, read, write and pool. Raises
    :class:`~palprep.errors.UsageError` for what is no time."""
    if isinstance(timeout, int | float):
        if not timeout > 0:
            raise UsageError(f"timeout takes more than 0 seconds, not {timeout:g}")
        timeout = min(timeout, LONGEST_S)
    require_type("timeout", timeout, float | httpx.Timeout | None)
    return httpx.Timeout(timeout).as_dict()


@dataclass
class SandboxTime:
    """The time of the sandbox at ``base_url``: to sleep is to advance its clock. While nothing
    listens there, the clock stands still and sleep is real. Each method raises
    :class:`~palprep.errors.UsageError` if something else answers."""

    base_url: str
    last: float = field(default_factory=time.time)

    def clock(self) -> float:
        self._ask("GET")
        return self.last

    def sleep(self, seconds: float) -> None:
        """Advance the clock. On an event loop, which may itself serve callbacks, the sandbox waits
        at most half a second for their answers."""
        asked: dict[str, float] = {"advance": seconds}
        with contextlib.suppress(RuntimeError):
            asyncio.get_running_loop()
            asked["answered_within"] = 0.5
        if self._ask("POST", json.dumps(asked)) is None:
            time.sleep(seconds)

    async def sleep_async(self, seconds: float) -> None:
        """As :meth:`sleep`, in a thread: callbacks that fall due may come to this event loop."""
        await anyio.to_thread.run_sync(self.sleep, seconds)

    def _ask(self, method: str, body: str | None = None) -> float | None:
        address = urlsplit(self.base_url)
        connection = HTTPConnection(address.hostname or "", address.port)
        try:
            with contextlib.closing(connection):
                connection.request(method, address.path.rstrip("/") + "/_sandbox/clock", body)
                self.last = float(json.load(connection.getresponse())["now"])
        except ConnectionError:
            return None  # The client's own request will say that nothing listens.
        except (OSError, HTTPException, ValueError, KeyError, TypeError):
            raise UsageError(
                f"PALPREP_TIME is sandbox, and none answers at {self.base_url}. Start one, or "
                "unset PALPREP_TIME."
            ) from None
        return self.last


def time_of(
    variables: Mapping[str, str], base_url: str, *, awaited: bool = False
) -> dict[str, Callable[..., Any]]:
    """``clock`` and ``sleep`` of the sandbox at ``base_url`` if PALPREP_TIME asks for them, else
    nothing."""
    if variables.get("PALPREP_TIME") != "sandbox":
        return {}
    there = SandboxTime(base_url)
    return {"clock": there.clock, "sleep": there.sleep_async if awaited else there.sleep}
