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


def interrupted(progress: RunProgress, into: Path, signal: Interrupted) -> NoReturn:
    """Say it in one line, and leave with the signal's exit code."""
    # The same words that the shell was given; no option of palprep takes a secret.
    command = shlex.join(["palprep", *sys.argv[1:]])
    page = shlex.join(["palprep", "report", str(into)])
    tell_warning(
        f"Interrupted: {progress.ended.total()} of {progress.people} people are through, and all "
        f"that was done is kept in {into}; `{page}` writes its page. "
        f"Nothing is created twice. Go on with: {command}"
    )
    raise typer.Exit(signal.code) from None
