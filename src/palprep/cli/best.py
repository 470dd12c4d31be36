"""palprep best: the fittest portrait among many."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from palprep import fixes, media, preflight, rules, views
from palprep.cli import options
from palprep.cli.exits import ExitCode, ending_well
from palprep.cli.files import fix_command, limits_of, require_there
from palprep.cli.output import SAME, print_json, show, tell, telling
from palprep.vocabulary import DEFAULT_PROFILE

EXAMPLES = (
    "palprep best photos",
    "palprep best training.mp4 --per-second 4 --top 3",
    "palprep best training.mp4 --into portraits",
)


def best(
    source: Annotated[Path, typer.Argument(help="A folder of images, or a video.")],
    top: Annotated[int, typer.Option(min=1, help="How many to show.")] = 5,
    per_second: Annotated[
        float, typer.Option(min=0.01, max=60, help="Frames of a video to look at.")
    ] = 2.0,
    into: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Put the best one here; a video's frame as a PNG."),
    ] = None,
    profile: options.ProfileName = DEFAULT_PROFILE,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Those with the fewest failing checks come first, then those with the fewest warnings, then
    the fittest. --json prints all of them. Exit code 1 when even the best fails a check.
    """
    limits = limits_of(time_limit, memory_limit)
    require_there(source)
    with telling(quiet=quiet or as_json):
        with (
            ending_well(lambda: "Nothing was ranked, and nothing was written."),
            preflight.media_workers(1, limits=limits) as engine,
        ):
            engine.may_open(reads=[source], writes=[into] if into else [])
            engine.begin()
            # Loaded while the worker loads as much.
            from palprep.cli.progress import showing_files

            held_against = rules.load_profile(profile)
            with showing_files(1, wanted=not as_json) as shown, shown.at(source.name):
                ranked = preflight.pick_best(
                    source, profile=held_against, per_second=per_second, engine=engine
                )
                best = ranked[0]
                kept = None
                if into is not None:
                    picked = media.Source.of(best.path)
                    kept = engine.run(fixes.keep_picked, picked, best.at_s, into)
        if as_json:
            for candidate in ranked:
                print_json(candidate.to_json())
        else:
            show(views.ranking_table(ranked, top))
        tell(_next(ranked, kept, profile))
    raise typer.Exit(ExitCode.FAILED if ranked[0].failed else ExitCode.OK)


def _next(ranked: Sequence[preflight.Candidate], kept: Path | None, profile: str) -> str:
    """What was ranked, and what to do with the best of it, or with its copy that was ``kept``."""
    best, fit = ranked[0], sum(not each.failed for each in ranked)
    frames = best.at_s is not None
    looked = rules.counted(len(ranked), *(("frame", "frames") if frames else ("image", "images")))
    passing = f"{fit} of {looked} {'passes' if fit == 1 else 'pass'}."
    if best.failed:
        return f"None of {looked} passes. Next: take another one, as the failing checks say."
    if frames and kept is None:
        return f"{passing} Next: {SAME} with --into FOLDER, which keeps it."
    return f"{passing} Next: {fix_command([kept or Path(best.path)], profile=profile)}"
