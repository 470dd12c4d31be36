"""palprep best: the fittest portrait among many."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palprep.cli.exits import ExitCode
from palprep.cli.going_on import interrupted
from palprep.cli.options import AsJson, MemoryLimit, ProfileName, TimeLimit
from palprep.cli.printing import at_work, print_json, show, tell_notes
from palprep.cli.signals import Interrupted, interruptible
from palprep.cli.verbosity import Quiet, tell, telling
from palprep.vocabulary import DEFAULT_PROFILE

EXAMPLES = (
    "palprep best photos",
    "palprep best training.mp4 --per-second 4 --top 3",
    "palprep best training.mp4 --into portraits",
)


def best(
    source: Annotated[
        Path, typer.Argument(help="A folder of images, or a video.", show_default=False)
    ],
    top: Annotated[int, typer.Option(min=1, help="How many to show.")] = 5,
    per_second: Annotated[
        float, typer.Option(min=0.01, max=60, help="Frames of a video to look at.")
    ] = 2.0,
    into: Annotated[
        Path | None,
        typer.Option(
            "--into", metavar="FOLDER", help="Put the best one here; a video's frame as a PNG."
        ),
    ] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Rank the images of a folder, or the frames of a video, by how fit a portrait each is.

    Those with the fewest failing checks come first, then those with the fewest warnings, then the
    fittest. --json prints all of them. Exit code 1 when even the best fails a check.
    """
    from palprep.cli.files_at_work import limits_of, workers
    from palprep.cli.given import require_there

    limits = limits_of(time_limit, memory_limit)
    require_there(source)
    with telling(quiet=quiet or as_json):
        try:
            with interruptible(), workers(1, limits, begin=True) as crew:
                # Loaded while the worker loads as much.
                from palprep.cli.summary import next_after_ranking
                from palprep.fixes.picked import keep_picked
                from palprep.media.source import Source
                from palprep.preflight.rank import pick_best
                from palprep.rules.profile import load_profile
                from palprep.views.terminal import ranking_table

                held_against = load_profile(profile)
                tell_notes(held_against)
                with at_work(f"looking at {source.name}", wanted=not as_json):
                    ranked = pick_best(
                        source,
                        profile=held_against,
                        per_second=per_second,
                        engine=crew.engine,
                    )
                    best = ranked[0]
                    kept = None
                    if into is not None:
                        picked = Source.of(best.path)
                        kept = crew.engine.run(keep_picked, picked, best.at_s, into)
        except Interrupted as signal:
            interrupted("Nothing was ranked, and nothing was written.", signal)
        if as_json:
            for candidate in ranked:
                print_json(candidate.to_json())
        else:
            show(ranking_table(ranked, top))
        tell(next_after_ranking(ranked, kept))
    raise typer.Exit(ExitCode.FAILED if ranked[0].failed else ExitCode.OK)
