"""The sandbox's application: its routes, and the jobs that it does meanwhile."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from palprep._version import __version__
from palprep.sandbox.answers import JsonAnswer, respond
from palprep.sandbox.assets import serve_asset, sweep
from palprep.sandbox.clock import Scheduler
from palprep.sandbox.control import CONTROLS, Controls
from palprep.sandbox.control_routes import control_routes
from palprep.sandbox.dispatch import endpoint_routes
from palprep.sandbox.handlers.conversations import conversation_timed_out
from palprep.sandbox.handlers.documents import step_document
from palprep.sandbox.handlers.tools import run_post_call_tool
from palprep.sandbox.handlers.training import train
from palprep.sandbox.log import trim
from palprep.sandbox.loopback import LoopbackApp
from palprep.sandbox.openapi import openapi_document
from palprep.sandbox.outbound import deliver_callback
from palprep.sandbox.service import Service
from palprep.sandbox.store import Job, Record

log = logging.getLogger(__name__)


JOBS: Mapping[str, Callable[[Service, Record], Awaitable[None]]] = {
    "voice": partial(train, kind="voice"),
    "replica": partial(train, kind="replica"),
    "document": step_document,
    "conversation": conversation_timed_out,
    "tool": run_post_call_tool,
    "callback": deliver_callback,
}


async def perform(service: Service, job: Job) -> None:
    """Do one job. Whatever it raises goes to the scheduler, which drops the job."""
    await JOBS[job.kind](service, job.payload)


def build_app(sandbox: Controls, service: Service) -> tuple[ASGIApp, Scheduler]:
    """The application that serves ``service`` and the controls of ``sandbox``, and what does the
    jobs while it is served."""
    service.scratch.mkdir(exist_ok=True)
    sweep(service.assets)
    trim(service.store)
    scheduler = Scheduler(service.clock, service.store, partial(perform, service))
    service.store.on_schedule = scheduler.notify

    @cache  # takes as long to derive as all the rest to start
    def document() -> dict[str, Any]:
        return openapi_document(service.choices, base_url=service.base_url)

    async def openapi(_: Request) -> Response:
        return respond(JsonAnswer(body=document()))

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
        *endpoint_routes(service),
        *control_routes(sandbox, CONTROLS),
        Route("/assets/{token}/{name}", partial(serve_asset, service), methods=["GET", "HEAD"]),
        Route("/openapi.json", openapi, methods=["GET"]),
        Route("/", _index, methods=["GET"]),
    ]
    return LoopbackApp(Router(routes, lifespan=lifespan)), scheduler


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
