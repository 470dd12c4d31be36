"""What to say when a signal ended the work: what was kept, and the command that goes on."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from palprep.cli.signals import Interrupted
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


def interrupted(kept: str, signal: Interrupted) -> NoReturn:
    """Say in one line what was ``kept``, and leave with the signal's exit code."""
    # The same words that the shell was given; no option of palprep takes a secret.
    command = shlex.join(["palprep", *sys.argv[1:]])
    tell_warning(f"Interrupted: {kept} Go on with: {command}")
    raise typer.Exit(signal.code) from None
