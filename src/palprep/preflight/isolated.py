"""Work at one file in worker processes, so that a file that crashes a decoder harms no other.

This module loads no decoder, so that a command which only waits for its workers stays small.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from palprep.errors import MediaError, MediaTooHeavy, ToolFailed
from palprep.fixes import remove_parts
from palprep.media import Source
from palprep.values import Kind
from palprep.workers import LONGEST_S, Engine, Limits, LocalEngine, Runner, WorkStopped


def media_workers(jobs: int | None = None, *, limits: Limits | None = None) -> LocalEngine:
    """Workers on this machine that load all decoders when they start.

    As many ``jobs`` as processor cores where none are named. Raises UsageError for less than one.
    """
    return LocalEngine(jobs, limits=limits, modules=["palprep.preflight.check_and_prepare"])


def for_source(engine: Engine, source: Source) -> Runner:
    """The engine, with the time that a file of this length may take; far away, with the longest."""
    if engine.far:
        return engine.for_length(LONGEST_S)
    lasts = source.type.kind in {Kind.AUDIO, Kind.VIDEO}
    return engine.for_length(engine.run(_length_s, source) if lasts else 0.0)


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


def _length_s(source: Source) -> float:
    # Loads a decoder, and so runs in a worker.
    from palprep.media import declared_length_s  # noqa: PLC0415

    return declared_length_s(source)
