"""palprep best: the fittest portrait among many."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palprep.cli.exits import ExitCode
from palprep.cli.options import AsJson, ProfileName
from palprep.cli.printing import print_json, show, tell_notes
from palprep.vocabulary import DEFAULT_PROFILE


def best(
    source: Annotated[
        Path, typer.Argument(help="A folder of images, or a video.", show_default=False)
    ],
    top: Annotated[int, typer.Option(min=1, help="How many to show.")] = 5,
    per_second: Annotated[
        float, typer.Option(min=0.01, max=60, help="Frames of a video to look at.")
    ] = 2.0,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Rank the images of a folder, or the frames of a video, by how fit a portrait each is.

    --json prints all of them. Exit code 1 when even the best fails a check.
    """
    from palprep.preflight.rank import pick_best
    from palprep.rules.profile import load_profile
    from palprep.views.terminal import ranking_table

    limits = load_profile(profile)
    tell_notes(limits)
    ranked = pick_best(source, profile=limits, per_second=per_second)
    if as_json:
        for candidate in ranked:
            print_json(candidate.to_json())
    else:
        show(ranking_table(ranked, top))
    raise typer.Exit(ExitCode.FAILED if ranked[0].failed else ExitCode.OK)
