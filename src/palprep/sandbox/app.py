"""The sandbox's application: its routes, its jobs, and a guard that lets only this machine in."""

from __future__ import annotations

import asyncio
import logging
import shutil
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from palprep.api.records import host_of, is_loopback
from palprep.errors import UsageError
from palprep.sandbox.answers import JsonAnswer, respond
from palprep.sandbox.assets import serve_asset, sweep
from palprep.sandbox.clock import Scheduler
from palprep.sandbox.control import Controls, control_routes
from palprep.sandbox.dispatch import EndpointRoutes
from palprep.sandbox.handlers import conversations, likenesses, seeded, tools
from palprep.sandbox.log import trim
from palprep.sandbox.openapi import openapi_document
from palprep.sandbox.outbound import deliver_callback
from palprep.sandbox.service import Service
from palprep.sandbox.store import Job, Record
from palprep.serving import ImpatientProtocol, listening_socket
from palprep.storage import private_folder

log = logging.getLogger(__name__)

JOBS: Mapping[str, Callable[[Service, Record], Awaitable[None]]] = {
    "voice": partial(likenesses.train, kind="voice"),
    "replica": partial(likenesses.train, kind="replica"),
    "document": seeded.step_document,
    "conversation": conversations.conversation_timed_out,
    "tool": tools.run_post_call_tool,
    "callback": deliver_callback,
}


def build_app(sandbox: Controls, service: Service) -> tuple[ASGIApp, Scheduler]:
    """The application that serves ``service`` and the controls of ``sandbox``, and the scheduler of
    its jobs."""
    # A killed sandbox has left the media that it was judging.
    shutil.rmtree(service.scratch, ignore_errors=True)
    private_folder(service.scratch)
    sweep(service)
    trim(service.store)

    async def perform(job: Job) -> None:
        await JOBS[job.kind](service, job.payload)

    scheduler = Scheduler(service.clock, service.store, perform)
    service.store.on_schedule = scheduler.notify

    async def openapi(_: Request) -> Response:
        document = openapi_document(service.choices, base_url=service.base_url)
        return respond(JsonAnswer(body=document))

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        running = asyncio.create_task(scheduler.run())
        running.add_done_callback(_stopped)
        yield
        service.ended.set()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await service.http.aclose()

    routes = [
        EndpointRoutes(service),
        *control_routes(sandbox),
        Route("/assets/{token}/{name}", partial(serve_asset, service), methods=["GET", "HEAD"]),
        *(Route(path, openapi, methods=["GET"]) for path in ("/", "/openapi.json")),
    ]
    router = Router(routes, redirect_slashes=False, lifespan=lifespan)
    return LoopbackApp(router), scheduler


def _stopped(scheduling: asyncio.Task[None]) -> None:
    if not scheduling.cancelled() and (error := scheduling.exception()):
        log.critical("The sandbox's clock has stopped: restart it", exc_info=error)


class LoopbackApp:
    """Serves ``router`` to requests that name a loopback host and come from no other host's page.

    The sandbox's keys are public, and its routes under /_sandbox need none. So any web page could
    use it, by a name that resolves to this machine (DNS rebinding) or by a cross-site request.
    Pages of this machine may use it, from any port: people develop them with the sandbox.

    An unknown path and a wrong method are answered as JSON. Starlette's own application would add
    layers to every request that none needs.
    """

    def __init__(self, router: ASGIApp) -> None:
        self._router = router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self  # Starlette then raises errors that it would otherwise answer as text.
        try:
            if scope["type"] == "http":
                _require_loopback(Headers(scope=scope))
            await self._router(scope, receive, send)
        except HTTPException as error:
            body = {"error": f"{error.detail}."}
            answer = JsonAnswer(error.status_code, body, error.headers or {})
            await respond(answer)(scope, receive, send)


def _require_loopback(headers: Headers) -> None:
    named = ["//" + headers.get("host", ""), *headers.getlist("origin")]
    # Browsers and urlsplit read a host with a backslash differently.
    if not all("\\" not in url and is_loopback(host_of(url)) for url in named):
        raise HTTPException(403, "The sandbox is for programs and pages of this machine only")


class DroppableProtocol(ImpatientProtocol):
    """Lets the application cut the connection by ``scope["state"]["abort"]()``, which ASGI cannot
    express. It keeps more connections than a server for strangers, because tests open many."""

    max_connections = 500

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Put ``abort`` into the state of every request on this connection."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "abort": self.transport.abort}


def bind_loopback(host: str, port: int) -> socket.socket:
    """A listening socket on ``host``. Raises :class:`~palprep.errors.UsageError` for a port in use,
    and for a host that is not loopback (see :class:`LoopbackApp`)."""
    address = "127.0.0.1" if host == "localhost" else host.strip("[]")
    if not is_loopback(address):
        raise UsageError(
            f"The sandbox listens on loopback only, and {host} is not; use 127.0.0.1 or ::1."
        )
    return listening_socket(address, port)
