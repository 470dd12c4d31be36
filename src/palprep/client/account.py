"""Where the service is and the key to it, checked before anything is sent."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import NoReturn
from urllib.parse import urlsplit

from palprep.api import is_header_value, is_https
from palprep.errors import UsageError

log = logging.getLogger("palprep.client")


class Secret:
    """Holds a secret. Every way of showing it gives ``***``; only :meth:`reveal` returns it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The secret itself, for the one place that sends it."""
        return self._value

    def __repr__(self) -> str:
        return "Secret('***')"

    def __str__(self) -> str:
        return "***"

    def __format__(self, spec: str) -> str:
        return format("***", spec)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled; read it from its source where it is needed")


def checked_key(api_key: str) -> Secret:
    """The key. Raises :class:`~palprep.errors.UsageError` for one that no header can carry."""
    if not api_key or not is_header_value(api_key):
        raise UsageError(
            "The API key is empty or holds characters that no HTTP header takes. Check "
            "api_key, or PALPREP_API_KEY."
        )
    return Secret(api_key)


def checked_base_url(url: str) -> str:
    """The address before every path, without a slash at its end.

    Raises :class:`~palprep.errors.UsageError` for what is no such address. Warns in the log of a
    key that would travel unencrypted.
    """
    try:
        parts = urlsplit(url)
        # A port that is no port is found when it is asked for.
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or parts.username:
        raise UsageError(
            f"The base URL {_without_user(url)!r} is not of the form https://HOST[:PORT][/PATH]. "
            "Check base_url, or PALPREP_BASE_URL."
        )
    trimmed = url.rstrip("/")
    if trimmed.endswith("/v2"):
        raise UsageError("Leave /v2 out of the base URL: every path starts with it already.")
    if not is_https(trimmed, loopback=True):
        log.warning("The API key travels unencrypted to %s; use https.", parts.hostname)
    return trimmed


def _without_user(url: str) -> str:
    """The address to show: a name and a password in it are somebody's secret."""
    return re.sub(r"^([a-z]+://)?.*@", r"\1***@", url)


def needed(environ: Mapping[str, str], name: str) -> str:
    """A variable of the environment. Raises :class:`~palprep.errors.UsageError` without it."""
    value = environ.get(name, "").strip()
    if not value:
        raise UsageError(
            f"{name} is not set. Set PALPREP_BASE_URL and PALPREP_API_KEY, or run "
            "`palprep sandbox` and use the URL and the key that it prints."
        )
    return value


def log_as_asked(environ: Mapping[str, str], log: logging.Logger = log) -> None:
    """Show the client's log on standard error as PALPREP_LOG asks: ``info`` for a line per
    attempt, ``debug`` for the service's request ids too. Neither shows what was sent.

    A handler that the program has set up already is left to show it. Raises
    :class:`~palprep.errors.UsageError` for another word.
    """
    asked = environ.get("PALPREP_LOG", "").strip().upper()
    if not asked:
        return
    if asked not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
        raise UsageError("PALPREP_LOG is debug, info, warning or error.")
    log.setLevel(asked)
    if not log.hasHandlers():
        shown = logging.StreamHandler()
        shown.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
        log.addHandler(shown)
