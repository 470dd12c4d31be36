"""The controls of a running sandbox. Each is a method of it and a route under ``/_sandbox``, which
needs no key."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, get_type_hints, overload

from pydantic import TypeAdapter, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from palprep.api import json_value
from palprep.errors import OutputUnwritable, UsageError
from palprep.sandbox.answers import JsonAnswer, Missing, respond
from palprep.sandbox.assets import receive
from palprep.sandbox.choices import listing
from palprep.sandbox.clock import Scheduler, hurry, in_event_loop
from palprep.sandbox.faults import FaultScript, script_from
from palprep.sandbox.handlers.conversations import call_tool, end_conversation
from palprep.sandbox.handlers.likenesses import end_by_hand
from palprep.sandbox.log import show_log
from palprep.sandbox.seed import seed, seed_system_tool
from palprep.sandbox.service import Service
from palprep.sandbox.store import Record
from palprep.serving import BodyTooLarge, ServerThread, read_body
from palprep.values import Value, require_type
from palprep.vocabulary import did_you_mean

P = ParamSpec("P")
T = TypeVar("T")

MAX_ADVANCE_S = 10 * 366 * 86400
SOON_S = 0.5
PIECE_BYTES = 1024 * 1024
MAX_BODY_BYTES = 64 * 1024 * 1024

_STATUSES = {Missing: 404, BodyTooLarge: 413, OutputUnwritable: 507}


@dataclass
class Control(Generic[P, T]):
    """One control. As an attribute of a sandbox it is a method, which returns when ``act`` has run
    on the sandbox's own loop.

    Over HTTP the arguments of ``act`` are the parameters of ``path`` and the members of a JSON
    object, some of them ``renamed``. Or its one argument is the ``whole`` JSON body, an object or
    an array, or the one called ``streamed`` takes the body as it arrives. The answer is the result,
    in a member called ``under`` if that is given; without a result it is a 204.
    """

    act: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]
    method: str
    path: str
    renamed: Mapping[str, str] = field(default_factory=dict)
    whole: bool = False
    streamed: str | None = None
    under: str | None = None

    def __post_init__(self) -> None:
        self.__doc__ = self.act.__doc__  # For help() on the method.

    def __repr__(self) -> str:
        return f"{self.act.__name__}{inspect.signature(self.act)}"

    @overload
    def __get__(self, sandbox: None, owner: type) -> Self: ...
    @overload
    def __get__(self, sandbox: object, owner: type) -> Callable[P, T]: ...
    def __get__(self, sandbox: Any, owner: type) -> Self | Callable[P, T]:
        if sandbox is None:
            return self

        @functools.wraps(self.act)
        def method(*args: P.args, **kwargs: P.kwargs) -> T:
            given = inspect.signature(self.act).bind(sandbox, *args, **kwargs).arguments
            for name in given.keys() & self.hints.keys():
                require_type(name, given[name], self.hints[name])
            result: T = sandbox._run(lambda: self.act(sandbox, *args, **kwargs))  # noqa: SLF001
            return result

        return method

    async def answer(self, sandbox: Any, request: Request) -> Response:
        try:
            act: Callable[..., Coroutine[Any, Any, T]] = self.act
            result = await act(sandbox, **await self._arguments(request))
        except (UsageError, BodyTooLarge, OutputUnwritable) as error:
            status = _STATUSES.get(type(error), 400)
            return respond(JsonAnswer(status, {"error": error.message}))
        except ClientDisconnect:
            return Response(status_code=400)  # Nobody reads it.
        shown: Any = result.to_json() if isinstance(result, Value) else result
        if self.under is not None and shown is not None:
            shown = {self.under: shown}
        return respond(JsonAnswer(204 if shown is None else 200, shown))

    async def _arguments(self, request: Request) -> Any:
        arguments: dict[str, Any] = dict(request.path_params)
        _refuse_strangers("parameter", request.query_params, ())
        if self.streamed is not None:
            return arguments | {self.streamed: request.stream()}
        body = await read_body(request, MAX_BODY_BYTES)
        try:
            sent = json_value(body or (b"" if self.whole else b"{}"))
        except ValueError as error:
            raise UsageError(f"The body is not JSON: {error}.") from error
        if not isinstance(sent, dict | list if self.whole else dict):
            raise UsageError("The body must be a JSON object.")
        if self.whole:
            return dict.fromkeys(self.members, sent)
        _refuse_strangers("member", sent, self.members.values())
        own = inspect.signature(self.act).parameters
        for name, member in self.members.items():
            value = sent.get(member, own[name].default)
            arguments[name] = _checked(member, self.hints[name], value)
        return arguments

    @functools.cached_property
    def hints(self) -> Mapping[str, Any]:
        return get_type_hints(self.act)

    @functools.cached_property
    def members(self) -> Mapping[str, str]:
        """The members of the body, by the names of the arguments that they are."""
        _, *names = inspect.signature(self.act).parameters
        others = (name for name in names if f"{{{name}}}" not in self.path)
        return {name: self.renamed.get(name, name) for name in others}


def control(
    method: str, path: str, **options: Any
) -> Callable[[Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]], Control[P, T]]:
    """A decorator that makes an async method the :class:`Control` at ``/_sandbox`` + ``path``."""
    return lambda act: Control(act, method, path, **options)


@dataclass(frozen=True, slots=True)
class Running:
    server: ServerThread
    service: Service
    scheduler: Scheduler


class Controls:
    """The controls of a sandbox, for any thread but the sandbox's own.

    Each method returns when everything that it causes is done, such as callbacks posted and
    requests sent to tools' servers. Those servers may call methods too, which do not wait for the
    requests under way. All raise :class:`~palprep.errors.UsageError` for unusable arguments, and
    when the sandbox is not running. On an event loop they wait at most half a second for servers,
    because the same loop may run one; ``await asyncio.to_thread(...)`` waits for all.
    """

    _first_seed: Any
    _running: Running | None = None
    url = ""
    """``http://HOST:PORT``, without a slash at the end."""

    def _run(self, act: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of ``act()`` on the sandbox's own loop. Meanwhile the caller's event loop, if
        there is one, stands still, and so do the servers that it runs."""

        async def soon() -> T:
            hurry(SOON_S)
            return await act()

        server = self._live.server
        if not server.at_work:  # In a forked process nothing would ever answer.
            raise UsageError(
                "The sandbox runs in the process that entered it: any other one asks it at "
                f"{self.url}/_sandbox"
            )
        return server.call(soon() if in_event_loop() else act())

    @property
    def _live(self) -> Running:
        if self._running is None:
            raise UsageError("The sandbox is not running; use it as a context manager.")
        return self._running

    def _begin(self) -> None:
        seed_system_tool(self._live.service)
        if self._first_seed is not None:
            seed(self._live.service, self._first_seed, anew=False)

    # Not a method clock(): a sandbox's now() reads the clock from any thread.
    @control("GET", "/clock")
    async def _clock(self) -> dict[str, Any]:
        """``{clock, now}``: real or virtual, and seconds since the epoch."""
        return self._live.service.clock.to_json()

    @control("POST", "/clock", renamed={"seconds": "advance"})
    async def advance(
        self, seconds: float, *, answered_within: float | None = None
    ) -> dict[str, Any]:
        """Move the clock by ``seconds``, from 0 to ten years, and do everything that falls due.
        Waits for the servers that requests are sent to, at most ``answered_within`` real seconds in
        all if that is given. Returns ``{clock, now}``."""
        if answered_within is not None:
            hurry(answered_within)
        if not 0 <= seconds <= MAX_ADVANCE_S:
            raise UsageError('Say how far: {"advance": SECONDS}, from 0 to ten years.')
        await self._live.scheduler.advance(float(seconds))
        return self._live.service.clock.to_json()

    @control("POST", "/seed", whole=True, under="stored")
    async def seed(self, records: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, int]:
        """Store records under their own ids, by kind: ``{"pals": [{"pal_id": "p1"}]}``. Missing
        members are filled in. Returns how many records of each kind were stored."""
        return seed(self._live.service, records)

    @control("GET", "/faults", under="waiting")
    async def faults(self) -> list[dict[str, Any]]:
        """The faults that can still strike. ``left`` says how often."""
        return self._live.service.faults.waiting()

    @control("POST", "/faults", whole=True, under="waiting")
    async def load_faults(
        self, faults: FaultScript | Path | str | Sequence[Any] | Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Replace the script of faults by a script, its file, or its JSON; ``[]`` ends all faults.
        Returns the faults that can strike, as :meth:`faults` does."""
        self._live.service.faults.load(script_from(faults))
        return self._live.service.faults.waiting()

    # Not a method log(): a sandbox's own also shows links.
    @control("GET", "/log")
    async def _log(self) -> dict[str, Any]:
        """``requests`` with their headers, ``body``, ``answer_headers`` and ``answer``; the
        ``callbacks`` and tools' requests that were sent; ``creates``, the number of records of each
        kind that were created. Secrets are masked, and links in requests and answers."""
        return await show_log(self._live.service.store, addresses=False)

    @control("GET", "/choices", under="choices")
    async def choices(self) -> list[dict[str, Any]]:
        """The decisions of this sandbox where the specification is silent."""
        return listing(self._live.service.choices)

    @control("PUT", "/assets/{name}", streamed="content", under="url")
    async def put_asset(self, name: str, content: bytes | Path | AsyncIterator[bytes]) -> str:
        """Publish bytes or a file under ``name``. Returns its URL, valid for a day by the sandbox's
        clock. Raises OutputUnwritable when the disk refuses."""
        if not name or "/" in name:
            raise UsageError("An asset's name is one part of a path: without a slash.")
        pieces = _pieces(content) if isinstance(content, bytes | Path) else content
        return await receive(self._live.service, name, pieces)

    @control("POST", "/trainings/{resource_id}/end")
    async def end_training(self, resource_id: str, *, error_message: str | None = None) -> Record:
        """End the training of a voice or a replica now, as completed, or in error if there is a
        message. Its media are not fetched. Returns the record."""
        record = end_by_hand(self._live.service, resource_id, error_message)
        if record is None:
            raise Missing(f"No voice and no replica {resource_id} is in training.")
        await self._live.scheduler.advance(0)
        return record

    @control("POST", "/conversations/{conversation_id}/end")
    async def end_conversation(
        self, conversation_id: str, arguments: Mapping[str, Mapping[str, Any]] | None = None
    ) -> Record:
        """End an active conversation, with ``arguments`` of its post-call tools by their names.
        Returns the record."""
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
        """Call an in-call tool, as the LLM of the conversation would. Returns the answer of its
        server (``status``, ``body``, ``problem``), or the event for the frontend (``event``,
        ``payload``)."""
        return await call_tool(self._live.service, conversation_id, name, arguments or {})

    @control("POST", "/reset")
    async def reset(self) -> None:
        """Forget everything that happened: records, assets, jobs, the log, faults that struck.
        Seed and faults are as they were at the start. The clock stays where it is, unless the
        sandbox was given a start. A request under way is refused (410)."""
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


def control_routes(sandbox: Controls) -> list[Route]:
    return [
        Route(
            "/_sandbox" + each.path, functools.partial(each.answer, sandbox), methods=[each.method]
        )
        for each in CONTROLS.values()
    ]


def _refuse_strangers(what: str, given: Collection[str], known: Collection[str]) -> None:
    for stranger in sorted({*given} - {*known}):
        otherwise = f"known are {', '.join(known)}" if known else f"this route takes no {what}s"
        hint = did_you_mean(stranger, known, otherwise)
        raise UsageError(f"{stranger} is no {what} here; {hint}")


def _checked(name: str, declared: Any, value: object) -> Any:
    try:
        return TypeAdapter(declared).validate_python(value, strict=True)
    except ValidationError as error:
        raise UsageError(f"{name}: {error.errors()[0]['msg']}.") from None
