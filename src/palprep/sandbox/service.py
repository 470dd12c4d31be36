"""What handlers and jobs work with: the parts of one sandbox."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import httpx

from palprep.sandbox.choices import Choices
from palprep.sandbox.clock import SandboxClock, stamp
from palprep.sandbox.connectors import CheckLimit
from palprep.sandbox.faults import Faults
from palprep.sandbox.judges import JudgeImage, Trainer
from palprep.sandbox.outbox import CallbackOutbox
from palprep.sandbox.recorder import Recorder
from palprep.sandbox.store import Store


@dataclass(frozen=True, slots=True)
class Service:
    """``scratch`` is a folder for files being judged; ``recorder`` gives out opaque identifiers
    from a prefix; ``base_url`` is this sandbox's own."""

    store: Store
    clock: SandboxClock
    choices: Choices
    faults: Faults
    outbox: CallbackOutbox
    http: httpx.AsyncClient
    scratch: Path
    judge_image: JudgeImage
    trainer: Trainer
    recorder: Recorder
    base_url: str
    check_limit: CheckLimit = field(default_factory=CheckLimit)

    def now(self) -> float:
        """This moment by the sandbox's clock, in seconds since the epoch."""
        return self.clock.now()

    def stamp(self) -> str:
        """This moment, as the specification writes a voice's ``created_at``."""
        return stamp(self.clock.now())
