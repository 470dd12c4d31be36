"""What a developer may do to a running sandbox, over HTTP or from Python alike."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote

from palprep.errors import UsageError
from palprep.sandbox.assets import Assets
from palprep.sandbox.choices import listing
from palprep.sandbox.conversations import call_tool, end_conversation
from palprep.sandbox.faults import FaultScript
from palprep.sandbox.log import show_log
from palprep.sandbox.recorder import RecordedRequest, Recording
from palprep.sandbox.scheduler import Scheduler
from palprep.sandbox.seed import seed, seed_system_tool
from palprep.sandbox.service import Service
from palprep.sandbox.store import Record
from palprep.sandbox.training import end_by_hand

MAX_ADVANCE_S = 10 * 366 * 86400


class Missing(UsageError):
    """There is nothing of this id that could be ended, called or sent again."""


class Control:
    """Everything that no caller of the service can do. Used on the server's own loop.

    What one of these causes (a callback, a tool's request) has been done when it returns, and
    what the caller got wrong is a :class:`~palprep.errors.UsageError`. ``ask`` sends a
    recorded request to the sandbox itself. ``first_seed`` is what it was started with.
    """

    def __init__(
        self,
        service: Service,
        scheduler: Scheduler,
        assets: Assets,
        *,
        ask: Callable[[RecordedRequest], Awaitable[None]],
        first_seed: Any = None,
    ) -> None:
        self._service = service
        self._scheduler = scheduler
        self._assets = assets
        self._ask = ask
        self._first_seed = first_seed
        self._begin()

    def _begin(self) -> None:
        seed_system_tool(self._service)
        if self._first_seed is not None:
            seed(self._service, self._first_seed)

    def choices(self) -> list[dict[str, Any]]:
        """What this sandbox decides where the specification is silent."""
        return listing(self._service.choices)

    def log(self) -> dict[str, Any]:
        """``{requests, callbacks, creates}``; see :func:`palprep.sandbox.log.show_log`."""
        return show_log(self._service.store)

    def faults(self) -> list[dict[str, Any]]:
        """The faults that can still strike, each with how often."""
        return self._service.faults.waiting()

    def load_faults(self, script: FaultScript) -> None:
        """Replace the script of faults."""
        self._service.faults.load(script)

    def seed(self, records: Any) -> dict[str, int]:
        """Store records under their own ids; how many of each kind."""
        return seed(self._service, records)

    async def advance(self, seconds: Any) -> None:
        """Move the clock, doing all that falls due; from 0 seconds to ten years."""
        number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if not number or not 0 <= seconds <= MAX_ADVANCE_S:
            raise UsageError('Say how far: {"advance": SECONDS}, from 0 to ten years.')
        await self._scheduler.advance(seconds)

    async def end_training(self, resource_id: str, error_message: Any = None) -> Record:
        """End the training of a voice or a replica now: completed, or in error with a message."""
        if not isinstance(error_message, str | None):
            raise UsageError("error_message is a text; without it the training is completed.")
        record = end_by_hand(self._service, resource_id, error_message)
        if record is None:
            raise Missing(f"No voice and no replica {resource_id} is in training.")
        await self._scheduler.advance(0)
        return record

    async def end_conversation(self, conversation_id: str, arguments: Any = None) -> Record:
        """End an active conversation, with arguments for its post-call tools by their names."""
        given = {} if arguments is None else arguments
        if not isinstance(given, Mapping) or not all(isinstance(a, dict) for a in given.values()):
            raise UsageError('Arguments are {"arguments": {"tool name": {...}}}.')
        with self._service.store.transaction():
            ended = end_conversation(self._service, conversation_id, given)
        if ended is None:
            raise Missing(f"There is no active conversation {conversation_id}.")
        await self._scheduler.advance(0)
        return ended

    async def call_tool(
        self, conversation_id: str, name: Any, arguments: Any = None
    ) -> dict[str, Any]:
        """Have an in-call tool of an active conversation invoked: what its server answered, as
        ``{status, body, problem}``, or the event for the frontend, ``{event, payload}``."""
        given = {} if arguments is None else arguments
        if not isinstance(name, str) or not isinstance(given, Mapping):
            raise UsageError('Say which tool: {"name": "...", "arguments": {...}}.')
        return await call_tool(self._service, conversation_id, name, given)

    async def resend(self, number: int) -> None:
        """Post a callback once more, by its ``seq`` in the log; one that a fault lost too."""
        if not self._service.outbox.send_again(number):
            raise Missing(f"The log has no callback with the number {number}.")
        await self._scheduler.advance(0)

    async def put_asset(
        self, name: str, chunks: AsyncIterator[bytes], lifetime_s: float | None = None
    ) -> str:
        """Publish a file; its URL, good for ``lifetime_s`` seconds of the sandbox's clock.

        Raises :class:`~palprep.sandbox.assets.AssetTooLarge`, and OSError when the disk refuses.
        """
        if not name or "/" in name:
            raise UsageError("An asset's name is one part of a path: without a slash.")
        lifetime = self._service.choices.asset_seconds if lifetime_s is None else lifetime_s
        asset = await self._assets.receive(name, chunks, lifetime=lifetime)
        return f"{self._service.base_url}/assets/{asset.token}/{quote(name, safe='')}"

    def record(self) -> None:
        """Keep every request from now on, as it came."""
        self._service.recorder.start(self._service.now())

    def recording(self) -> Recording:
        """What was asked since :meth:`record`; empty without it."""
        return self._service.recorder.recording

    async def replay(self, recording: Recording) -> None:
        """Ask everything of a recording again, at the same distances by the clock, which moves
        on. What was created has the same ids. No fault strikes, and callbacks are posted."""
        with self._service.faults.suspended():
            for recorded in recording.requests:
                await self._scheduler.advance(recorded.after_s)
                self._service.recorder.expect(recorded.ids)
                await self._ask(recorded)
        self._service.recorder.expect(())

    async def reset(self) -> None:
        """Forget everything that happened: records, assets, jobs, the log, faults that struck.

        What the sandbox was started with is there again. The clock stays where it is.
        """
        await self._scheduler.at_rest(self._forget)

    def _forget(self) -> None:
        self._service.store.clear()
        self._service.faults.reset()
        self._service.check_limit.reset()
        self._service.recorder.stop()
        self._assets.clear()
        self._begin()
