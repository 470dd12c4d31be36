"""A running sandbox in a test's hand: everything under ``/_sandbox`` as methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from palprep.sandbox.control import Control
from palprep.sandbox.faults import FaultScript, script_from
from palprep.sandbox.recorder import Recording, read_recording

T = TypeVar("T")

PIECE_BYTES = 1024 * 1024


class Handle(ABC):
    """What a developer may do to a sandbox, from any thread but the sandbox's own.

    Each method returns when everything that it causes has been done: callbacks posted, tools'
    servers asked. All raise :class:`~palprep.errors.UsageError` for what cannot be meant, and
    when the sandbox is not running. In asynchronous code call them in a thread where what
    they cause is served by the same event loop.
    """

    @abstractmethod
    def _run(self, act: Callable[[Control], Awaitable[T]]) -> T:
        """The result of ``act`` on the sandbox's own loop."""

    def advance(self, seconds: float) -> None:
        """Move the clock by ``seconds``, from 0 to ten years."""
        self._run(lambda control: control.advance(seconds))

    def seed(self, records: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, int]:
        """Store records under their own ids, by kind: ``{"pals": [{"pal_id": "p1"}]}``. Members
        that are missing are filled in. Returns how many of each kind."""
        return self._run(_at_once(lambda control: control.seed(records)))

    def load_faults(
        self, faults: FaultScript | Path | str | Sequence[Any] | Mapping[str, Any]
    ) -> None:
        """Replace the script of faults: a script, its file, or its JSON; ``[]`` ends them all."""
        script = script_from(faults)
        self._run(_at_once(lambda control: control.load_faults(script)))

    def faults(self) -> list[dict[str, Any]]:
        """The faults that can still strike, each with how often (``left``)."""
        return self._run(_at_once(lambda control: control.faults()))

    def log(self) -> dict[str, Any]:
        """``requests`` served with their bodies, ``callbacks`` and tools' requests sent, and how
        many records of each kind were created (``creates``). Secrets are masked."""
        return self._run(_at_once(lambda control: control.log()))

    def choices(self) -> list[dict[str, Any]]:
        """What this sandbox decides where the specification is silent."""
        return self._run(_at_once(lambda control: control.choices()))

    def put_asset(
        self, name: str, content: bytes | Path, *, lifetime_s: float | None = None
    ) -> str:
        """Publish bytes or a file under ``name``; its URL, good for ``lifetime_s`` seconds."""
        return self._run(lambda control: control.put_asset(name, _pieces(content), lifetime_s))

    def end_training(self, resource_id: str, *, error_message: str | None = None) -> dict[str, Any]:
        """End the training of a voice or a replica now: completed, or in error with a message.
        Its media are not fetched. Returns the record."""
        return self._run(lambda control: control.end_training(resource_id, error_message))

    def end_conversation(
        self, conversation_id: str, arguments: Mapping[str, Mapping[str, Any]] | None = None
    ) -> dict[str, Any]:
        """End a conversation, with arguments for its post-call tools by their names. Returns
        the record."""
        return self._run(lambda control: control.end_conversation(conversation_id, arguments))

    def call_tool(
        self, conversation_id: str, name: str, arguments: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Have an in-call tool invoked, as the LLM of the conversation would: what its server
        answered (``status``, ``body``, ``problem``), or the event for the frontend (``event``,
        ``payload``)."""
        return self._run(lambda control: control.call_tool(conversation_id, name, arguments))

    def resend(self, number: int) -> None:
        """Post a callback once more, by its ``seq`` in the log's ``callbacks``."""
        self._run(lambda control: control.resend(number))

    def record(self) -> None:
        """Keep every request from now on as it came, with secrets, for :meth:`recording`."""
        self._run(_at_once(lambda control: control.record()))

    def recording(self) -> Recording:
        """What was asked since :meth:`record`: a value, which ``model_dump_json()`` writes."""
        return self._run(_at_once(lambda control: control.recording()))

    def replay(self, recording: Recording | Path | str) -> None:
        """Ask everything of a recording, or of its JSON file, again: in this sandbox or another
        one. What was created has the same ids, the clock moves on as it did then, and no fault
        strikes. Seed what was seeded first."""
        wanted = recording if isinstance(recording, Recording) else read_recording(Path(recording))
        self._run(lambda control: control.replay(wanted))

    def reset(self) -> None:
        """Forget everything that happened; what the sandbox was started with is there again.
        The clock stays where it is."""
        self._run(lambda control: control.reset())


def _at_once(act: Callable[[Control], T]) -> Callable[[Control], Awaitable[T]]:
    async def awaited(control: Control) -> T:
        return act(control)

    return awaited


async def _pieces(content: bytes | Path) -> AsyncIterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with content.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece
