"""Outbound requests: where they may go, how much of an answer is read, and callbacks.

A callback is stored with the change that it announces, then posted until it is accepted.
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
"""How much is read of an answer that is not a media file."""


class ServerFailed(PalprepError, code="server_failed"):
    """A server failed; the text goes to the caller, ``http_status`` is that of the failing step."""

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
            '--outbound anywhere, or Choices(outbound="anywhere")'
        )


def outbound_client(tls: ssl.SSLContext, *, anywhere: bool) -> httpx.AsyncClient:
    """For callbacks and tools. It uses a proxy of the environment, but not to loopback. Unless
    ``anywhere`` is allowed, each request must be to this machine. It keeps no cookies: they would
    reach every server of this machine."""

    async def check(request: httpx.Request) -> None:
        if (request.url.port or 0) > MAX_PORT:  # anyio would wrap the OverflowError in a group.
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


class _ThisMachine(httpx.HTTPTransport):
    """Asks no other machine, also after a redirect."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        refuse_elsewhere(request.url.host)
        return super().handle_request(request)


async def download(service: Service, url: str, into: Path) -> None:
    """Write the file at ``url`` to ``into``, as :func:`~palprep.storage.fetch_url` does. Also
    raises :class:`~palprep.errors.StorageError` for an empty file, for one on another machine
    unless the sandbox may ask any, and when the sandbox ends."""
    choices, transport = service.choices, None
    if choices.outbound == "loopback":
        transport = _ThisMachine(verify=service.tls)
        try:
            refuse_elsewhere(host_of(url))  # Before a name server is asked for it.
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
    # Not to_thread: a server that is silent would hold its thread, which the loop waits for at
    # its end.
    fetched = await asyncio.wrap_future(in_daemon_thread(fetch))
    if fetched.size_bytes == 0:
        raise StorageError("The file is empty.")


def within(seconds: float) -> asyncio.Timeout:
    """A deadline for the whole answer of a server: httpx has one for each read, which one that
    drips never misses. A little later than that: only httpx closes what it gives up."""
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
    """Schedule the POST of ``payload``, about a record of this kind, to ``url``, if there is one:
    inside the transaction of the change itself."""
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
    """One attempt, logged; schedules the next one unless it was taken with a 2xx."""
    event, url, payload, attempt = job["event"], job["url"], job["payload"], job["attempt"]
    kept, status, problem = service.store.cleared, None, None
    try:
        async with within(_POST_TIMEOUT_S), service.http.stream("POST", url, json=payload) as reply:
            status = reply.status_code  # no one reads its body
    except UNASKABLE as error:
        problem = str(error) or type(error).__name__
    if service.store.cleared != kept:
        return  # What it was about is forgotten.
    pauses = service.choices.callback_retry_seconds
    with service.store.transaction():
        note_delivery(service, event, url, payload, attempt=attempt, status=status, problem=problem)
        taken = status is not None and httpx.codes.is_success(status)
        if not taken and attempt <= len(pauses):
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
    """Log one outbound delivery: the answer's status, or why there was none."""
    told = {"event": event, "url": url, "payload": payload, "attempt": attempt}
    told |= {"status": status, "error": problem}
    note(service.store, "callback", service.now(), told)


async def client_credentials_token(auth: Mapping[str, Any], http: httpx.AsyncClient) -> str:
    """A token (RFC 6749, section 4.4). Raises :class:`ServerFailed` where none is given."""
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
