"""Outbound requests: callbacks, downloads of media, tokens.

A callback is stored together with the change that it announces, then posted until it is accepted.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Any

import httpx

from palprep.api import json_value
from palprep.api.records import host_of, is_loopback
from palprep.errors import PalprepError, StorageError
from palprep.sandbox.faults import EVENT, CallbackFault
from palprep.sandbox.log import note
from palprep.sandbox.service import Service
from palprep.sandbox.store import Record
from palprep.storage import UNASKABLE, fetch_url
from palprep.system import in_daemon_thread

_POST_TIMEOUT_S = 10.0
MAX_PORT = 65_535
LOST = "lost, as the fault script says"
ANSWER_BYTES = 64 * 1024
"""The part that is read of an answer that is no media file."""


class ServerFailed(PalprepError, code="server_failed"):
    """A server failed. The caller gets the message; ``http_status`` is the failing step's."""

    def __init__(self, message: str, http_status: int | None = None) -> None:
        super().__init__(message)
        self.http_status = http_status


class ElsewhereError(httpx.RequestError):
    """A request to another machine, from a sandbox that may ask only this one."""


def refuse_elsewhere(host: str) -> None:
    """Raises :class:`ElsewhereError` unless ``host`` is this machine."""
    if not is_loopback(host):
        raise ElsewhereError(
            f"{host} is not this machine, and this sandbox asks no other. Allow it by "
            '--choice outbound=anywhere, or Choices(outbound="anywhere")'
        )


def outbound_client(tls: ssl.SSLContext, *, anywhere: bool) -> httpx.AsyncClient:
    """A client for callbacks and tools. Each request must be to this machine, unless ``anywhere``
    is allowed; then a proxy of the environment is used, but not for loopback. It keeps no cookies,
    which would reach every server of this machine."""

    async def check(request: httpx.Request) -> None:
        if (request.url.port or 0) > MAX_PORT:  # anyio would raise a group with an OverflowError.
            raise httpx.InvalidURL(f"a port is at most {MAX_PORT}")
        if not anywhere:
            refuse_elsewhere(request.url.host)

    loopback = ("all://127.0.0.1", "all://localhost", "all://[::1]")
    return httpx.AsyncClient(
        verify=tls,
        trust_env=anywhere,
        timeout=_POST_TIMEOUT_S,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        mounts=dict.fromkeys(loopback),
        event_hooks={"request": [check]},
    )


class _LoopbackTransport(httpx.HTTPTransport):
    """Refuses requests to other machines, also after a redirect."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        refuse_elsewhere(request.url.host)
        return super().handle_request(request)


async def download(service: Service, url: str, into: Path) -> None:
    """Write the file at ``url`` to ``into``, as :func:`~palprep.storage.fetch_url` does. Also
    raises :class:`~palprep.errors.StorageError` for an empty file, when the sandbox ends, and for
    another machine unless the sandbox may send requests anywhere."""
    choices, transport = service.choices, None
    if choices.outbound == "loopback":
        transport = _LoopbackTransport(verify=service.tls)
        try:
            refuse_elsewhere(host_of(url))  # Before the host's name is resolved.
        except ElsewhereError as error:
            raise StorageError(str(error)) from None

    def go_on() -> None:
        if service.ended.is_set():
            raise StorageError("The sandbox has ended.")

    fetch = partial(
        fetch_url,
        url,
        into,
        max_bytes=choices.media_bytes,
        within_s=choices.fetch_seconds,
        go_on=go_on,
        transport=transport,
    )
    # Not asyncio.to_thread(): the event loop would wait at its end for a server that is silent.
    fetched = await asyncio.wrap_future(in_daemon_thread(fetch))
    if fetched.size_bytes == 0:
        raise StorageError("The file is empty.")


def within(seconds: float) -> asyncio.Timeout:
    """A deadline for a whole answer: httpx limits only single reads, which a slow server may never
    exceed. It is half a second later, because httpx closes a connection that it gives up itself."""
    return asyncio.timeout(seconds + 0.5)


async def beginning(response: httpx.Response) -> str:
    """The first 64 KiB of an answer as text; the rest is not read."""
    content = b""
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) >= ANSWER_BYTES:
            break
    return content[:ANSWER_BYTES].decode("utf-8", "replace")


def announce(service: Service, kind: str, url: str | None, payload: Mapping[str, Any]) -> None:
    """Schedule the POST of ``payload``, about a record of this kind, to ``url``, if there is one.
    The transaction must be that of the change."""
    if url is None:
        return
    event = EVENT.format(kind=kind)
    fault = service.faults.striking(CallbackFault, event=event)
    copies, late = (fault.copies, fault.late) if fault else (1, 0.0)
    if copies == 0:
        note_delivery(service, event, url, payload, attempt=0, problem=LOST)
    for _ in range(copies):
        job = {"event": event, "url": url, "payload": dict(payload), "attempt": 1}
        service.store.schedule(service.now() + late, "callback", job)


async def deliver_callback(service: Service, job: Record) -> None:
    """Send a callback once and log it. Unless the answer is a 2xx, schedule the next attempt."""
    event, url, payload, attempt = job["event"], job["url"], job["payload"], job["attempt"]
    kept, status, problem = service.store.cleared, None, None
    try:
        async with within(_POST_TIMEOUT_S), service.http.stream("POST", url, json=payload) as reply:
            status = reply.status_code  # The body is not read.
    except UNASKABLE as error:
        problem = str(error) or type(error).__name__
    if service.store.cleared != kept:
        return  # The sandbox was reset meanwhile.
    pauses = service.choices.callback_retry_seconds
    with service.store.transaction():
        note_delivery(service, event, url, payload, attempt=attempt, status=status, problem=problem)
        accepted = status is not None and httpx.codes.is_success(status)
        if not accepted and attempt <= len(pauses):
            due = service.now() + pauses[attempt - 1]
            service.store.schedule(due, "callback", {**job, "attempt": attempt + 1})


def note_delivery(
    service: Service,
    event: str,
    url: str,
    payload: Any,
    *,
    attempt: int = 1,
    status: int | None = None,
    problem: str | None = None,
) -> None:
    """Log an outbound request with the answer's status, or with the ``problem`` if none came."""
    line = {"event": event, "url": url, "payload": payload, "attempt": attempt}
    line |= {"status": status, "error": problem}
    note(service.store, "callback", service.now(), line)


async def client_credentials_token(auth: Mapping[str, Any], http: httpx.AsyncClient) -> str:
    """An access token (RFC 6749, section 4.4). Raises :class:`ServerFailed` if it gets none."""
    form = {"grant_type": "client_credentials"}
    if auth.get("scope"):
        form["scope"] = auth["scope"]
    login = httpx.BasicAuth(auth.get("client_id") or "", auth.get("client_secret") or "")
    try:
        url = auth.get("token_url") or ""
        async with (
            within(_POST_TIMEOUT_S),
            http.stream("POST", url, data=form, auth=login) as answer,
        ):
            text = await beginning(answer)
    except UNASKABLE as error:
        why = str(error) or type(error).__name__
        raise ServerFailed(f"The token endpoint cannot be reached: {why}") from error
    if not answer.is_success:
        raise ServerFailed(
            f"The token endpoint answered {answer.status_code}: {text}", answer.status_code
        )
    try:
        return str(json_value(text.encode())["access_token"])
    except (ValueError, KeyError, TypeError) as error:
        raise ServerFailed(
            "The token endpoint's answer holds no access_token.", answer.status_code
        ) from error
