"""What a developer may do to a running sandbox: from Python as methods, and over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from palprep.errors import UsageError
from palprep.sandbox.assets import receive
from palprep.sandbox.choices import listing
from palprep.sandbox.clock import Scheduler, hurry, in_event_loop
from palprep.sandbox.control_routes import Control, Missing, control
from palprep.sandbox.faults import FaultScript, script_from
from palprep.sandbox.handlers.conversations import call_tool, end_conversation
from palprep.sandbox.handlers.likenesses import end_by_hand
from palprep.sandbox.log import show_log
from palprep.sandbox.seed import seed, seed_system_tool
from palprep.sandbox.service import Service
from palprep.sandbox.store import Record
from palprep.serving import ServerThread

T = TypeVar("T")

MAX_ADVANCE_S = 10 * 366 * 86400
SOON_S = 0.5
ASSET_S = 24 * 3600.0
PIECE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Running:
    server: ServerThread
    service: Service
    scheduler: Scheduler


class Controls:
    """What a developer may do to a sandbox, from any thread but the sandbox's own.

    Each method returns when everything that it causes has been done: callbacks posted, tools'
    servers asked. These may call methods, too: only what asks them is not waited for. All raise
    :class:`~palprep.errors.UsageError` for what cannot be meant, and when the sandbox is not
    running. Called on an event loop, they wait half a second for servers and no longer: one may be
    served by that loop. ``await asyncio.to_thread(...)`` waits for all.
    """

    _first_seed: Any

    _running: Running | None = None

    url = ""
    """``http://HOST:PORT``, without a slash at the end."""

    def _run(self, act: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of ``act()`` on the sandbox's own loop. The caller's loop, if there is one,
        stands still until then, and perhaps serves those that are asked."""

        async def soon() -> T:
            hurry(SOON_S)
            return await act()

        return self._live.server.call(soon() if in_event_loop() else act())

    @property
    def _live(self) -> Running:
        if self._running is None:
            raise UsageError("The sandbox is not running; use it as a context manager.")
        return self._running

    def _begin(self) -> None:
        seed_system_tool(self._live.service)
        if self._first_seed is not None:
            seed(self._live.service, self._first_seed, anew=False)

    # Not clock(): a sandbox's now() reads its clock without asking the loop.
    @control("GET", "/clock")
    async def _clock(self) -> dict[str, Any]:
        """``{clock, now}``: real or virtual, and seconds since the epoch."""
        return self._live.service.clock.told()

    @control("POST", "/clock", renamed={"seconds": "advance"})
    async def advance(
        self, seconds: float, *, answered_within: float | None = None
    ) -> dict[str, Any]:
        """Move the clock by ``seconds``, from 0 to ten years, doing all that falls due. Servers
        that are asked meanwhile are waited for, or ``answered_within`` real seconds in all. Then
        ``{clock, now}``."""
        if answered_within is not None:
            hurry(answered_within)
        if not 0 <= seconds <= MAX_ADVANCE_S:
            raise UsageError('Say how far: {"advance": SECONDS}, from 0 to ten years.')
        await self._live.scheduler.advance(float(seconds))
        return self._live.service.clock.told()

    @control("POST", "/seed", whole=True, under="stored")
    async def seed(self, records: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, int]:
        """Store records under their own ids, by kind: ``{"pals": [{"pal_id": "p1"}]}``. Members
        that are missing are filled in. Returns how many of each kind."""
        return seed(self._live.service, records)

    @control("GET", "/faults", under="waiting")
    async def faults(self) -> list[dict[str, Any]]:
        """The faults that can still strike, each with how often (``left``)."""
        return self._live.service.faults.waiting()

    @control("POST", "/faults", whole=True, under="waiting")
    async def load_faults(
        self, faults: FaultScript | Path | str | Sequence[Any] | Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Replace the script of faults: a script, its file, or its JSON; ``[]`` ends them all.
        Those that can strike, as :meth:`faults` gives them."""
        self._live.service.faults.load(script_from(faults))
        return self._live.service.faults.waiting()

    # Not log(): who has the sandbox itself sees the addresses.
    @control("GET", "/log")
    async def _log(self) -> dict[str, Any]:
        """``requests`` with their headers, ``body``, ``answer_headers`` and ``answer``,
        ``callbacks`` and tools' requests sent, and how many records of each kind were created
        (``creates``). Secrets are masked, and links in what was asked and answered."""
        return await show_log(self._live.service.store, addresses=False)

    @control("GET", "/choices", under="choices")
    async def choices(self) -> list[dict[str, Any]]:
        """What this sandbox decides where the specification is silent."""
        return listing(self._live.service.choices)

    @control("PUT", "/assets/{name}", streamed="content", under="url")
    async def put_asset(
        self,
        name: str,
        content: bytes | Path | AsyncIterator[bytes],
        *,
        lifetime_s: float | None = None,
    ) -> str:
        """Publish bytes or a file under ``name``; its URL, good for ``lifetime_s`` seconds of the
        sandbox's clock, or a day. Raises OSError when the disk refuses."""
        if not name or "/" in name:
            raise UsageError("An asset's name is one part of a path: without a slash.")
        lifetime = ASSET_S if lifetime_s is None else lifetime_s
        pieces = _pieces(content) if isinstance(content, bytes | Path) else content
        return await receive(self._live.service, name, pieces, lifetime=lifetime)

    @control("POST", "/trainings/{resource_id}/end")
    async def end_training(self, resource_id: str, *, error_message: str | None = None) -> Record:
        """End the training of a voice or a replica now: completed, or in error with a message.
        Its media are not fetched. Returns the record."""
        record = end_by_hand(self._live.service, resource_id, error_message)
        if record is None:
            raise Missing(f"No voice and no replica {resource_id} is in training.")
        await self._live.scheduler.advance(0)
        return record

    @control("POST", "/conversations/{conversation_id}/end")
    async def end_conversation(
        self, conversation_id: str, arguments: Mapping[str, Mapping[str, Any]] | None = None
    ) -> Record:
        """End an active conversation; ``arguments`` of its post-call tools by name. The record."""
        with self._live.service.store.transaction():
            ended = end_conversation(self._live.service, conversation_id, arguments)
        if ended is None:
            raise Missing(f"There is no active conversation {conversation_id}.")
        await self._live.scheduler.advance(0)
        return ended

    @control("POST", "/conversations/{conversation_id}/call_tool")
    async def call_tool(
        self, conversation_id: str, name: str, arguments: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Have an in-call tool invoked, as the LLM of the conversation would: what its server
        answered (``status``, ``body``, ``problem``), or the event for the frontend (``event``,
        ``payload``)."""
        return await call_tool(self._live.service, conversation_id, name, arguments or {})

    @control("POST", "/reset")
    async def reset(self) -> None:
        """Forget everything that happened: records, assets, jobs, the log, faults that struck.
        What the sandbox was started with is there again. The clock stays where it is, unless the
        sandbox was told where it begins. A request that is under way is refused (410)."""
        await self._live.scheduler.at_rest(self._forget)

    def _forget(self) -> None:
        self._live.service.store.clear()
        self._live.service.faults.reset()
        self._live.service.check_limit.started.clear()
        self._live.service.clock.restart()
        for path in self._live.service.assets.iterdir():
            path.unlink()
        self._begin()


CONTROLS = {name: each for name, each in vars(Controls).items() if isinstance(each, Control)}


async def _pieces(content: bytes | Path) -> AsyncIterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with content.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece
