"""palprep record: one person is recorded on a page of this machine."""

from __future__ import annotations

import contextlib
import shlex
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from palprep import (
    batch,
    consent,
    journal as journals,
    preflight,
    record as pages,
    rules,
    serving,
)
from palprep.cli import options
from palprep.cli.files import limits_of
from palprep.cli.output import print_line, tell, telling
from palprep.errors import UsageError
from palprep.vocabulary import DEFAULT_PROFILE

EXAMPLES = (
    "palprep record people/ada-lovelace",
    "palprep record people/ada-lovelace --language de --port 0 --no-browser",
)

_WORKERS = 2
"""One checks a take while the other looks at the camera, or takes the next file in."""


def record(
    person: Annotated[
        Path,
        typer.Argument(metavar="PEOPLE/NAME", help="The person's folder; it may be a new one."),
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8702,
    into: Annotated[
        Path, typer.Option(help="The output folder of the run to come; its journal notes codes.")
    ] = Path("palprep-out"),
    language: Annotated[
        str, typer.Option(help="Language of the page, ISO 639-1; the statement keeps its own.")
    ] = "en",
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Open no browser: the link is printed.")
    ] = False,
    profile: options.ProfileName = DEFAULT_PROFILE,
    model: options.WhisperModel = None,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Record one person in a browser on this machine, with verdicts at once.

    Portrait, consent with a fresh code, voice and training video land in the person's folder.
    """
    _require_folder_of_one(person)
    limits = rules.load_profile(profile)
    folder = person.absolute()
    with (
        telling(verbose=verbose, quiet=quiet),
        journals.Journal.of(into, create=True) as journal,
        preflight.media_workers(_WORKERS, limits=limits_of(time_limit, memory_limit)) as engine,
        contextlib.closing(
            pages.Recording(
                folder,
                journal,
                engine,
                profile=limits,
                language=language,
                model=model and consent.require_model(model),
            )
        ) as recording,
        serving.until_signalled(recording.ended) as ended,
    ):
        with pages.LocalSite(recording.routes(), port=port) as site:
            print_line(f"palprep record ready on {site.origin}")
            print_line(site.link)
            if not no_browser:
                webbrowser.open(site.link)
            ended.wait()
        go_on = ["palprep", "run", str(person.parent), "--only", folder.name, "--into", str(into)]
        tell(f"Next: {shlex.join(go_on)}")


def _require_folder_of_one(person: Path) -> None:
    """Raise UsageError for what cannot be, or is not, the folder of one person."""
    name = person.absolute().name
    why = batch.why_no_folder_name(name) if name else "is missing"
    if why is not None:
        raise UsageError(f"The name of the person's folder {why}")
    if person.exists() and not person.is_dir():
        raise UsageError(f"{person} is a file: name the person's folder")
    if (person / journals.JOURNAL_NAME).exists():
        raise UsageError(f"{person} is the output folder of a run: name the person's folder")
