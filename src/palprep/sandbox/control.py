"""What a developer may do to a running sandbox: from Python as methods, and over HTTP.

:class:`Control` does it, on the server's own loop. :class:`Handle` is the one table of it: each
line is a method of the sandbox, and a route under ``/_sandbox``.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload
from urllib.parse import quote

from palprep.errors import UsageError
from palprep.sandbox.assets import Assets
from palprep.sandbox.choices import listing
from palprep.sandbox.clock import Scheduler
from palprep.sandbox.faults import FaultScript, parse_script, script_from
from palprep.sandbox.handlers.conversations import call_tool, end_conversation
from palprep.sandbox.handlers.training import end_by_hand
from palprep.sandbox.log import (
    RecordedRequest,
    Recording,
    parse_recording,
    read_recording,
    show_log,
)
from palprep.sandbox.seed import seed, seed_system_tool
from palprep.sandbox.service import Service
from palprep.sandbox.store import Record

P = ParamSpec("P")
T = TypeVar("T")

MAX_ADVANCE_S = 10 * 366 * 86400
PIECE_BYTES = 1024 * 1024


class Missing(UsageError):
    """Nothing has this id that could be ended, called or sent again."""


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

    async def clock(self) -> dict[str, Any]:
        """``{clock, now}``: real or virtual, and seconds since the epoch."""
        clock = self._service.clock
        return {"clock": clock.kind, "now": clock.now()}

    async def advance(self, seconds: float) -> None:
        """Move the clock by ``seconds``, from 0 to ten years, doing all that falls due."""
        number = _is(seconds, int | float) and not _is(seconds, bool)
        if not number or not 0 <= seconds <= MAX_ADVANCE_S:
            raise UsageError('Say how far: {"advance": SECONDS}, from 0 to ten years.')
        await self._scheduler.advance(seconds)

    async def seed(self, records: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, int]:
        """Store records under their own ids, by kind: ``{"pals": [{"pal_id": "p1"}]}``. Members
        that are missing are filled in. Returns how many of each kind."""
        return seed(self._service, records)

    async def load_faults(
        self, faults: FaultScript | Path | str | Sequence[Any] | Mapping[str, Any]
    ) -> None:
        """Replace the script of faults: a script, its file, or its JSON; ``[]`` ends them all."""
        self._service.faults.load(script_from(faults))

    async def faults(self) -> list[dict[str, Any]]:
        """The faults that can still strike, each with how often (``left``)."""
        return self._service.faults.waiting()

    async def log(self) -> dict[str, Any]:
        """``requests`` served with their bodies, ``callbacks`` and tools' requests sent, and how
        many records of each kind were created (``creates``). Secrets are masked."""
        return show_log(self._service.store)

    async def choices(self) -> list[dict[str, Any]]:
        """What this sandbox decides where the specification is silent."""
        return listing(self._service.choices)

    async def put_asset(
        self,
        name: str,
        content: bytes | Path | AsyncIterator[bytes],
        *,
        lifetime_s: float | None = None,
    ) -> str:
        """Publish bytes or a file under ``name``; its URL, good for ``lifetime_s`` seconds of the
        sandbox's clock.

        Raises :class:`~palprep.serving.BodyTooLarge`, and OSError when the disk refuses.
        """
        if not name or "/" in name:
            raise UsageError("An asset's name is one part of a path: without a slash.")
        lifetime = self._service.choices.asset_seconds if lifetime_s is None else lifetime_s
        pieces = _pieces(content) if isinstance(content, bytes | Path) else content
        asset = await self._assets.receive(name, pieces, lifetime=lifetime)
        return f"{self._service.base_url}/assets/{asset.token}/{quote(name, safe='')}"

    async def end_training(self, resource_id: str, *, error_message: str | None = None) -> Record:
        """End the training of a voice or a replica now: completed, or in error with a message.
        Its media are not fetched. Returns the record."""
        if not _is(error_message, str | None):
            raise UsageError("error_message is a text; without it the training is completed.")
        record = end_by_hand(self._service, resource_id, error_message)
        if record is None:
            raise Missing(f"No voice and no replica {resource_id} is in training.")
        await self._scheduler.advance(0)
        return record

    async def end_conversation(
        self, conversation_id: str, arguments: Mapping[str, Mapping[str, Any]] | None = None
    ) -> Record:
        """End an active conversation, with arguments for its post-call tools by their names.
        Returns the record."""
        by_tool = {} if arguments is None else arguments
        if not _is(by_tool, Mapping) or not all(_is(each, dict) for each in by_tool.values()):
            raise UsageError('Arguments are {"arguments": {"tool name": {...}}}.')
        with self._service.store.transaction():
            ended = end_conversation(self._service, conversation_id, by_tool)
        if ended is None:
            raise Missing(f"There is no active conversation {conversation_id}.")
        await self._scheduler.advance(0)
        return ended

    async def call_tool(
        self, conversation_id: str, name: str, arguments: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Have an in-call tool invoked, as the LLM of the conversation would: what its server
        answered (``status``, ``body``, ``problem``), or the event for the frontend (``event``,
        ``payload``)."""
        if not _is(name, str) or not _is(arguments, Mapping | None):
            raise UsageError('Say which tool: {"name": "...", "arguments": {...}}.')
        return await call_tool(self._service, conversation_id, name, arguments or {})

    async def resend(self, number: int) -> None:
        """Post a callback once more, by its ``seq`` in the log's ``callbacks``; one that a fault
        lost too."""
        if not self._service.outbox.send_again(number):
            raise Missing(f"The log has no callback with the number {number}.")
        await self._scheduler.advance(0)

    async def record(self) -> None:
        """Keep every request from now on as it came, with secrets, for :meth:`recording`."""
        self._service.recorder.start(self._service.now())

    async def recording(self) -> Recording:
        """What was asked since :meth:`record`: a value, which ``model_dump_json()`` writes."""
        return self._service.recorder.recording

    async def replay(self, recording: Recording | Path | str) -> None:
        """Ask everything of a recording, or of its JSON file, again: in this sandbox or another
        one. What was created has the same ids, the clock moves on as it did then, and no fault
        strikes. Seed what was seeded first."""
        if not isinstance(recording, Recording):
            recording = read_recording(Path(recording))
        with self._service.faults.suspended():
            for recorded in recording.requests:
                await self._scheduler.advance(recorded.after_s)
                self._service.recorder.expect(recorded.ids)
                await self._ask(recorded)
        self._service.recorder.expect(())

    async def reset(self) -> None:
        """Forget everything that happened: records, assets, jobs, the log, faults that struck.
        What the sandbox was started with is there again. The clock stays where it is."""
        await self._scheduler.at_rest(self._forget)

    def _forget(self) -> None:
        self._service.store.clear()
        self._service.faults.reset()
        self._service.check_limit.reset()
        self._service.recorder.stop()
        self._assets.clear()
        self._begin()


class Offer(Generic[P, T]):
    """One control, offered as a method of :class:`Handle` and as a route under ``/_sandbox``.

    The arguments of ``act`` are the parts of ``path``, and then either the members of a JSON
    object, by the names in ``members``, or the ``whole`` JSON body, as the function beside its
    name reads it; or the body as it comes (``streamed``). ``shown`` makes the answer's JSON of
    the result; without a result it is a 204.
    """

    def __init__(
        self,
        act: Callable[Concatenate[Control, P], Coroutine[Any, Any, T]],
        method: str,
        path: str,
        *,
        members: Mapping[str, str] | None = None,
        whole: tuple[str, Callable[[Any], Any]] | None = None,
        streamed: str | None = None,
        shown: Callable[[Control, T], Awaitable[Any]] | None = None,
    ) -> None:
        self.act = act
        self.method = method
        self.path = path
        self.members = members
        self.whole = whole
        self.streamed = streamed
        self.shown = shown

    @overload
    def __get__(self, handle: None, owner: type) -> Self: ...
    @overload
    def __get__(self, handle: Handle, owner: type) -> Callable[P, T]: ...
    def __get__(self, handle: Handle | None, owner: type) -> Self | Callable[P, T]:
        """The method of a sandbox."""
        if handle is None:
            return self

        @functools.wraps(self.act)
        def method(*args: P.args, **kwargs: P.kwargs) -> T:
            async def act(control: Control) -> T:
                return await self.act(control, *args, **kwargs)

            return handle._run(act)  # noqa: SLF001 -- the table of which it is a line

        return method


def _under(member: str) -> Callable[[Control, Any], Awaitable[dict[str, Any]]]:
    async def shown(_: Control, result: Any) -> dict[str, Any]:
        return {member: result}

    return shown


async def _clock_after(control: Control, _: None) -> dict[str, Any]:
    return await control.clock()


async def _waiting_after(control: Control, _: None) -> dict[str, Any]:
    return {"waiting": await control.faults()}


def _as_sent(content: Any) -> Any:
    return content


async def _as_json(_: Control, recording: Recording) -> dict[str, Any]:
    return recording.to_json()


class Handle(ABC):
    """What a developer may do to a sandbox, from any thread but the sandbox's own.

    Each method returns when everything that it causes has been done: callbacks posted, tools'
    servers asked. All raise :class:`~palprep.errors.UsageError` for what cannot be meant, and
    when the sandbox is not running. In asynchronous code call them in a thread where what
    they cause is served by the same event loop.
    """

    @abstractmethod
    def _run(self, act: Callable[[Control], Coroutine[Any, Any, T]]) -> T:
        """The result of ``act`` on the sandbox's own loop."""

    # Not clock(): a sandbox's now() reads its clock without asking the loop.
    _clock = Offer(Control.clock, "GET", "/clock")
    advance = Offer(
        Control.advance, "POST", "/clock", members={"advance": "seconds"}, shown=_clock_after
    )
    seed = Offer(Control.seed, "POST", "/seed", whole=("records", _as_sent), shown=_under("stored"))
    load_faults = Offer(
        Control.load_faults, "POST", "/faults", whole=("faults", parse_script), shown=_waiting_after
    )
    faults = Offer(Control.faults, "GET", "/faults", shown=_under("waiting"))
    log = Offer(Control.log, "GET", "/log")
    choices = Offer(Control.choices, "GET", "/choices", shown=_under("choices"))
    put_asset = Offer(
        Control.put_asset, "PUT", "/assets/{name}", streamed="content", shown=_under("url")
    )
    end_training = Offer(
        Control.end_training,
        "POST",
        "/trainings/{resource_id}/end",
        members={"error_message": "error_message"},
    )
    end_conversation = Offer(
        Control.end_conversation,
        "POST",
        "/conversations/{conversation_id}/end",
        members={"arguments": "arguments"},
    )
    call_tool = Offer(
        Control.call_tool,
        "POST",
        "/conversations/{conversation_id}/call_tool",
        members={"name": "name", "arguments": "arguments"},
    )
    resend = Offer(Control.resend, "POST", "/callbacks/{number:int}/resend")
    record = Offer(Control.record, "POST", "/recording")
    recording = Offer(Control.recording, "GET", "/recording", shown=_as_json)
    replay = Offer(Control.replay, "POST", "/replay", whole=("recording", parse_recording))
    reset = Offer(Control.reset, "POST", "/reset")


CONTROLS = {name: each for name, each in vars(Handle).items() if isinstance(each, Offer)}
"""The table, by the names of the methods."""


def _is(value: object, kinds: type | UnionType) -> bool:
    """Not told to type checkers: over HTTP a value may be of any type."""
    return isinstance(value, kinds)


async def _pieces(content: bytes | Path) -> AsyncIterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with content.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece
