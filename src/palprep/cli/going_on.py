"""What to say when a signal ended the work: what was kept, and the command that goes on."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from palprep.cli.signals import Interrupted, same_command
from palprep.cli.verbosity import tell_warning

if TYPE_CHECKING:
    from palprep.cli.run_progress import RunProgress


def people_kept(progress: RunProgress, into: Path) -> str:
    """What was kept of a run or a watch, and how to look at it."""
    page = shlex.join(["palprep", "report", str(into)])
    return (
        f"{progress.ended.total()} of {progress.people} people are through, and all that was done "
        f"is kept in {into}; `{page}` writes its page. Nothing is created twice."
    )


def recorded_in(into: Path) -> str:
    """What is kept of a run that does not wait for its requests."""
    look = shlex.join(["palprep", "status", str(into)])
    return (
        f"All that was recorded is kept in {into}. A request that was under way may be in doubt: "
        f"`{look}` tells."
    )


def interrupted(kept: str, signal: Interrupted) -> NoReturn:
    """Say in one line what was ``kept``, and leave with the signal's exit code."""
    tell_warning(f"Interrupted: {kept} Go on with: {same_command()}")
    raise typer.Exit(signal.code) from None
