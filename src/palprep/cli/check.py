"""palprep check: measure and judge files."""

from __future__ import annotations

from typing import Annotated

import typer

from palprep.cli.exits import ExitCode
from palprep.cli.options import AsJson, AsRole, Paths, ProfileName
from palprep.cli.printing import print_json, report_view, show
from palprep.rules.profile import DEFAULT_PROFILE


def check(
    paths: Paths,
    role: AsRole = None,
    profile: ProfileName = DEFAULT_PROFILE,
    name: Annotated[
        str | None,
        typer.Option("--name", help="Also verify that this full name's consent is spoken."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Headers and a few key frames; the rest is unknown.")
    ] = False,
    as_json: AsJson = False,
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="List the checks that passed, too.")
    ] = False,
) -> None:
    """Check files against what the service accepts, before anything is uploaded.

    Exit code 1 when a file fails a check or cannot be read.
    """
    from palprep.preflight import Preflight
    from palprep.probe import Speaker

    preflight = Preflight(profile, quick=quick)
    speaker = Speaker(full_name=name) if name else None
    passed = True
    for path in paths:
        report = preflight.check(path, role=role, speaker=speaker)
        passed = passed and report.passed
        if as_json:
            print_json(report.to_json())
        else:
            show(report_view(report, everything=everything))
    raise typer.Exit(ExitCode.OK if passed else ExitCode.FAILED)
