"""The sandbox's application: every part made, connected and served."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import httpx
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from palprep._version import __version__
from palprep.sandbox.answers import JsonAnswer, respond
from palprep.sandbox.assets import serve_asset, sweep
from palprep.sandbox.choices import Choices
from palprep.sandbox.clock import SandboxClock, Scheduler
from palprep.sandbox.control import CONTROLS, Controls, Parts
from palprep.sandbox.control_routes import control_routes
from palprep.sandbox.dispatch import endpoint_routes
from palprep.sandbox.faults import Faults, FaultScript
from palprep.sandbox.handlers.conversations import conversation_timed_out
from palprep.sandbox.handlers.documents import step_document
from palprep.sandbox.handlers.tools import run_post_call_tool
from palprep.sandbox.handlers.training import train_replica, train_voice
from palprep.sandbox.judges import JudgeImage, Trainer
from palprep.sandbox.log import Recorder, trim
from palprep.sandbox.loopback import LoopbackOnly
from palprep.sandbox.openapi import openapi_document
from palprep.sandbox.outbound import deliver_callback, outbound_client
from palprep.sandbox.service import KeyRing, Service
from palprep.sandbox.store import Job, Record, Store

log = logging.getLogger(__name__)


JOBS: Mapping[str, Callable[[Service, Record], Awaitable[None]]] = {
    "voice": train_voice,
    "replica": train_replica,
    "document": step_document,
    "conversation": conversation_timed_out,
    "tool": run_post_call_tool,
    "callback": deliver_callback,
}


async def perform(service: Service, job: Job) -> None:
    """Do one job. Whatever it raises goes to the scheduler, which drops the job."""
    await JOBS[job.kind](service, job.payload)


def build_app(
    sandbox: Controls,
    *,
    store: Store,
    clock: SandboxClock,
    folder: Path,
    base_url: str,
    keys: KeyRing,
    choices: Choices,
    faults: FaultScript,
    judge_image: JudgeImage,
    trainer: Trainer,
    tls: ssl.SSLContext | None,
) -> Parts:
    """Connect the parts of :class:`~palprep.sandbox.Sandbox`."""
    scratch, assets = folder / "scratch", folder / "assets"
    scratch.mkdir(exist_ok=True)
    sweep(assets)
    trusted = tls or httpx.create_ssl_context()
    http = outbound_client(trusted, anywhere=choices.outbound == "anywhere")
    service = Service(
        store=store,
        clock=clock,
        choices=choices,
        faults=Faults(faults),
        http=http,
        tls=trusted,
        scratch=scratch,
        assets=assets,
        keys=keys,
        judge_image=judge_image,
        trainer=trainer,
        recorder=Recorder(),
        base_url=base_url,
    )
    scheduler = Scheduler(clock, store, partial(perform, service))
    store.on_schedule = scheduler.notify
    trim(store)

    @cache  # takes as long to derive as all the rest to start
    def document() -> dict[str, Any]:
        return openapi_document(choices, base_url=base_url)

    async def openapi(_: Request) -> Response:
        return respond(JsonAnswer(body=document()))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        running = asyncio.create_task(scheduler.run())
        running.add_done_callback(_stopped)
        yield
        service.ended.set()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await http.aclose()

    app = Starlette(
        routes=[
            *endpoint_routes(service),
            *control_routes(sandbox, CONTROLS),
            Route("/assets/{token}/{name}", partial(serve_asset, service), methods=["GET", "HEAD"]),
            Route("/openapi.json", openapi, methods=["GET"]),
            Route("/", _index, methods=["GET"]),
        ],
        lifespan=lifespan,
        middleware=[Middleware(LoopbackOnly)],
        exception_handlers={HTTPException: _unrouted},
    )
    return Parts(app, service, scheduler)


def _stopped(scheduling: asyncio.Task[None]) -> None:
    if not scheduling.cancelled() and (error := scheduling.exception()):
        log.critical("The sandbox's clock has stopped: restart it", exc_info=error)


async def _index(_: Request) -> Response:
    """What a person sees who opens the announced address."""
    body = {
        "service": f"palprep sandbox {__version__}",
        "openapi": "/openapi.json",
        "controls": "/_sandbox/openapi.json",
        "choices": "/_sandbox/choices",
        "log": "/_sandbox/log",
    }
    return respond(JsonAnswer(body=body))


async def _unrouted(_: Request, error: Exception) -> Response:
    """An unknown path, or a wrong method."""
    refused = cast("HTTPException", error)
    body = {"error": f"{refused.detail}."}
    return respond(JsonAnswer(refused.status_code, body, dict(refused.headers or {})))
