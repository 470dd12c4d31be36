"""The sandbox's application: its routes, the jobs that it does meanwhile, and whom it answers."""

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
    """The application of ``service`` and of the controls of ``sandbox``, and what does the jobs."""
    # A killed sandbox left the media that it was judging.
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
    """Serves ``router`` to requests that name a loopback host and come from no other's page.

    The sandbox's keys are public knowledge, and its routes under /_sandbox ask for none. Otherwise
    a page could reach it by a name that resolves to this machine (DNS rebinding), or post to it
    from elsewhere. Pages of this machine may, on any port: people develop them with the sandbox.

    An unknown path and a wrong method are answered as JSON. It stands in place of Starlette's own
    application, whose layers every request would pay for and none needs.
    """

    def __init__(self, router: ASGIApp) -> None:
        self._router = router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self  # Starlette then raises what it would otherwise answer as text.
        try:
            if scope["type"] == "http":
                _require_loopback(Headers(scope=scope))
            await self._router(scope, receive, send)
        except HTTPException as error:
            said = {"error": f"{error.detail}."}
            answer = JsonAnswer(error.status_code, said, error.headers or {})
            await respond(answer)(scope, receive, send)


def _require_loopback(headers: Headers) -> None:
    named = ["//" + headers.get("host", ""), *headers.getlist("origin")]
    # Browsers and urlsplit do not agree which host is named with a backslash.
    if not all("\\" not in url and is_loopback(host_of(url)) for url in named):
        raise HTTPException(403, "The sandbox is for programs and pages of this machine only")


class DroppableProtocol(ImpatientProtocol):
    """Lets the application cut the connection, which ASGI cannot express:
    ``scope["state"]["abort"]()``. It keeps more connections than a server for strangers: tests open
    many."""

    max_connections = 500

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Put ``abort`` into the state of every request of this connection."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "abort": self.transport.abort}


def bind_loopback(host: str, port: int) -> socket.socket:
    """A listening socket on ``host``. Raises :class:`~palprep.errors.UsageError` unless the host is
    loopback, see :class:`LoopbackApp`, and for a port in use."""
    address = "127.0.0.1" if host == "localhost" else host.strip("[]")
    if not is_loopback(address):
        raise UsageError(
            f"The sandbox listens on loopback only, and {host} is not; use 127.0.0.1 or ::1."
        )
    return listening_socket(address, port)
