"""The sandbox's application: every part made, connected and served."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from palprep._version import __version__
from palprep.api.calls import ENDPOINTS
from palprep.sandbox.admin import Admin
from palprep.sandbox.answers import JsonAnswer
from palprep.sandbox.assets import Assets
from palprep.sandbox.choices import Choices
from palprep.sandbox.clock import SandboxClock
from palprep.sandbox.control import Control
from palprep.sandbox.faults import Faults, FaultScript
from palprep.sandbox.fetch import outbound_client
from palprep.sandbox.guard import LoopbackOnly
from palprep.sandbox.jobs import perform
from palprep.sandbox.judges import JudgeImage, Trainer
from palprep.sandbox.keys import KeyRing
from palprep.sandbox.log import trim
from palprep.sandbox.openapi import openapi_document
from palprep.sandbox.outbox import CallbackOutbox
from palprep.sandbox.recorder import RecordedRequest, Recorder
from palprep.sandbox.replay import replayed
from palprep.sandbox.routing import EndpointRoutes
from palprep.sandbox.scheduler import Scheduler
from palprep.sandbox.service import Service
from palprep.sandbox.store import Store
from palprep.sandbox.web import respond

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """The application, its clock, and the developer's control over both."""

    app: Starlette
    clock: SandboxClock
    control: Control


def build_app(
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
    seed_with: Any,
    tls: ssl.SSLContext | None,
    new_id: Callable[[str], str],
) -> Parts:
    """Connect the parts of one sandbox; see :class:`~palprep.sandbox.Sandbox`."""
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    http = outbound_client(tls, anywhere=choices.outbound == "anywhere")
    in_force = Faults(faults)
    service = Service(
        store=store,
        clock=clock,
        choices=choices,
        faults=in_force,
        outbox=CallbackOutbox(
            store=store,
            clock=clock,
            faults=in_force,
            http=http,
            retry_seconds=choices.callback_retry_seconds,
        ),
        http=http,
        scratch=scratch,
        judge_image=judge_image,
        trainer=trainer,
        recorder=Recorder(new_id),
        base_url=base_url,
    )
    scheduler = Scheduler(clock, store, partial(perform, service))
    store.on_schedule = scheduler.notify
    trim(store)
    assets = Assets(folder / "assets", store, clock, max_bytes=choices.asset_bytes)

    async def ask(recorded: RecordedRequest) -> None:
        await replayed(app, keys, recorded, base_url)

    control = Control(service, scheduler, assets, ask=ask, first_seed=seed_with)

    @cache  # takes as long to derive as all the rest to start
    def document() -> dict[str, Any]:
        return openapi_document(ENDPOINTS, choices, base_url=base_url)

    async def openapi(_: Request) -> Response:
        return respond(JsonAnswer(body=document()))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        running = asyncio.create_task(scheduler.run())
        running.add_done_callback(_stopped)
        yield
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await http.aclose()

    app = Starlette(
        routes=[
            EndpointRoutes(service, keys),
            *Admin(service, control, assets).routes(),
            Route("/openapi.json", openapi, methods=["GET"]),
            Route("/", _index, methods=["GET"]),
        ],
        lifespan=lifespan,
        middleware=[Middleware(LoopbackOnly)],
        exception_handlers={HTTPException: _unrouted},
    )
    return Parts(app, clock, control)


def _stopped(scheduling: asyncio.Task[None]) -> None:
    if not scheduling.cancelled() and (error := scheduling.exception()):
        log.critical("The sandbox's clock has stopped: restart it", exc_info=error)


async def _index(_: Request) -> Response:
    """What a person sees who opens the announced address."""
    body = {
        "service": f"palprep sandbox {__version__}",
        "openapi": "/openapi.json",
        "choices": "/_sandbox/choices",
        "log": "/_sandbox/log",
    }
    return respond(JsonAnswer(body=body))


async def _unrouted(_: Request, error: Exception) -> Response:
    """An unknown path, or a wrong method."""
    refused = cast("HTTPException", error)
    body = {"error": f"{refused.detail}."}
    return respond(JsonAnswer(refused.status_code, body, dict(refused.headers or {})))
