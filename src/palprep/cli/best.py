"""palprep best: the fittest portrait among many."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palprep.cli.exits import ExitCode
from palprep.cli.options import AsJson, ProfileName
from palprep.cli.printing import print_json, show
from palprep.vocabulary import DEFAULT_PROFILE

if TYPE_CHECKING:
    from rich.console import RenderableType

    from palprep.preflight.rank import Candidate


def best(
    source: Annotated[
        Path, typer.Argument(help="A folder of stills, or a video.", show_default=False)
    ],
    top: Annotated[int, typer.Option(min=1, help="How many to show.")] = 5,
    per_second: Annotated[
        float, typer.Option(min=0.01, max=60, help="Frames of a video to look at.")
    ] = 2.0,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Rank the stills of a folder, or the frames of a video, by how fit a portrait each is.

    --json prints all of them. Exit code 1 when even the best fails a check.
    """
    from palprep.preflight.rank import pick_best

    ranked = pick_best(source, profile=profile, per_second=per_second)
    if as_json:
        for candidate in ranked:
            print_json(candidate.to_json())
    else:
        show(_table(ranked, top))
    raise typer.Exit(ExitCode.FAILED if ranked[0].failed else ExitCode.OK)


def _table(ranked: Sequence[Candidate], top: int) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in ("rank", "picture", "at", "fitness", "near copies"):
        table.add_column(column, overflow="fold")
    table.add_column("fails, warns", ratio=1)
    leaders = [(rank, each) for rank, each in enumerate(ranked) if each.duplicate_of is None]
    for rank, candidate in leaders[:top]:
        alike = sum(1 for each in ranked if each.duplicate_of == rank)
        at = "" if candidate.at_s is None else f"{candidate.at_s:.2f} s"
        wrong = Text(", ".join(candidate.failed), "bold red")
        if candidate.warned:
            wrong.append(", " if candidate.failed else "").append(
                ", ".join(candidate.warned), "yellow"
            )
        table.add_row(
            str(rank + 1),
            Path(candidate.path).name,
            at,
            f"{candidate.fitness:.2f}",
            str(alike),
            wrong,
        )
    return table
