"""Checking and preparing in worker processes: what a file does to a decoder, it does to one file.

This module loads no decoder, so that a command which only waits for its workers stays small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from palprep.errors import MediaError, MediaTooHeavy, ToolFailed
from palprep.fixes.output import remove_parts
from palprep.media.given import given_name
from palprep.media.source import Source
from palprep.preflight import INSIDE
from palprep.preflight.prepared import Prepared
from palprep.preflight.roles import role_named
from palprep.rules.profile import Profile
from palprep.rules.report import Report
from palprep.values import Role
from palprep.vocabulary import FileInput, RoleName
from palprep.workers.engine import LONGEST_S, Engine, Runner, WorkStopped
from palprep.workers.messages import ByName, Callback

_LENGTH: ByName[[Source], float] = ByName("palprep.media.container", "declared_length_s")
_CHECK: ByName[..., Report] = ByName(INSIDE, "check_inside")
_PREPARE: ByName[..., Prepared] = ByName(INSIDE, "prepare_inside")


class Isolated:
    """What :class:`~palprep.preflight.check_and_prepare.Preflight` does, in the workers of an
    engine.

    A file that crashes its worker, or takes more time or memory than the engine allows, is
    reported like any other that cannot be read. Safe to share by threads.
    """

    def __init__(self, profile: Profile, engine: Engine, *, quick: bool = False) -> None:
        self.profile = profile
        self._engine = engine
        self._quick = quick

    def check(
        self, path: FileInput | Source, *, role: Role | RoleName | None = None, **asked: Any
    ) -> Report:
        """See :meth:`Preflight.check`. Raises WorkStopped when the engine is closed meanwhile."""
        wanted = role_named(role) if role is not None else None
        try:
            source = Source.of(path)
            runner = for_source(self._engine, source)
            return runner.run(_CHECK, self.profile, self._quick, source, role=wanted, **asked)
        except WorkStopped:
            raise
        except (MediaError, ToolFailed) as error:
            name = path.shown if isinstance(path, Source) else given_name(path)
            return Report.of_error(name, error, role=wanted, profile=self.profile.name)

    def prepare(
        self,
        path: FileInput | Source,
        *,
        into: str | Path,
        progress: Callable[[float], None] | None = None,
        **asked: Any,
    ) -> Prepared:
        """See :meth:`Preflight.prepare`. Raises MediaTooHeavy, and ToolFailed for a worker that
        died, as well, and removes what was written and could not be proved; WorkStopped when the
        engine is closed meanwhile.
        """
        source = Source.of(path)
        runner = for_source(self._engine, source)
        told = {} if progress is None else {"progress": Callback(progress)}
        written: list[str] = []
        try:
            with no_parts_left(Path(into)):
                return runner.run(
                    _PREPARE,
                    self.profile,
                    source,
                    into=Path(into),
                    wrote=Callback(written.append),
                    **asked,
                    **told,
                )
        except WorkStopped:
            raise  # Nothing is wrong with it; and the same file may be there from before.
        except (ToolFailed, MediaTooHeavy):
            for each in written:
                Path(each).unlink(missing_ok=True)
            raise

    def close(self, *, at_once: bool = False) -> None:
        """End the workers."""
        self._engine.close(at_once=at_once)


def for_source(engine: Engine, source: Source) -> Runner:
    """The engine, with the time that a file of this length may take; far away, with the longest."""
    return engine.for_length(LONGEST_S if engine.far else engine.run(_LENGTH, source))


def at_one_file(error: MediaError | ToolFailed) -> bool:
    """Whether it is this file that the work failed at, and not the workers as such."""
    ended_at_it = "pid" in vars(error) and not isinstance(error, WorkStopped)
    return isinstance(error, MediaError) or ended_at_it


@contextmanager
def no_parts_left(*folders: Path) -> Iterator[None]:
    """Remove from the folders what a worker had half written, when it is killed in here."""
    try:
        yield
    except (ToolFailed, MediaTooHeavy) as error:
        pid = vars(error).get("pid")
        if pid is not None:
            for folder in folders:
                remove_parts(folder, pid)
        raise
