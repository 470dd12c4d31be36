"""palprep run: a folder of people, from files to voices and replicas."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palprep.cli.options import AsJson, ProfileName
from palprep.cli.printing import print_json, print_note, progress_console, show, tell_notes
from palprep.vocabulary import DEFAULT_PROFILE

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from palprep.batch.progress import Progress, Tell


def run(
    folder: Annotated[
        Path, typer.Argument(help="A folder with one subfolder per person.", show_default=False)
    ],
    into: Annotated[Path, typer.Option("--into", help="Output folder.")] = Path("palprep-out"),
    base_url: Annotated[
        str | None,
        typer.Option(
            envvar="PALPREP_BASE_URL", help="The service; without it, an embedded sandbox."
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option(help="Where media work runs: local, or dask://HOST:PORT.")
    ] = "local",
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Local worker processes; by default, all cores.")
    ] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    publish_to: Annotated[
        str | None,
        typer.Option(
            envvar="PALPREP_PUBLISH_TO",
            help="Bucket the service fetches from: s3://, gs:// or az://.",
        ),
    ] = None,
    callback_url: Annotated[
        str | None,
        typer.Option(
            envvar="PALPREP_CALLBACK_URL", help="Public address of a running `palprep listen`."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check and prepare everything; send nothing.")
    ] = False,
    without_consent: Annotated[
        bool,
        typer.Option(
            "--without-consent",
            help="Train from videos even where no consent was heard; that goes on record.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check, fix, prove and publish everything, and make each person's voice and replica.

    The key comes from PALPREP_API_KEY. The same command again continues where a run ended,
    and creates nothing twice.
    """
    from palprep.batch.connection import Connection
    from palprep.batch.runner import run as run_people
    from palprep.cli.results import exit_code_of_results
    from palprep.rules.profile import load_profile
    from palprep.views.terminal import results_table

    if base_url is None and not dry_run:
        print_note("no --base-url and no PALPREP_BASE_URL: using an embedded sandbox on loopback")
    tell_notes(load_profile(profile))
    connection = Connection(
        base_url=base_url,
        api_key=os.environ.get("PALPREP_API_KEY"),
        publish_to=publish_to,
        callback_url=callback_url,
    )
    with _progress(wanted=not as_json) as tell:
        seen = run_people(
            folder,
            into=into,
            connection=connection,
            engine=engine,
            jobs=jobs,
            profile=profile,
            dry_run=dry_run,
            without_consent=without_consent,
            tell=tell,
        )
    results = [person.result for person in seen.people]
    if as_json:
        for result in results:
            print_json(result.to_json())
    else:
        show(results_table(results))
        print_note(f"the whole story is in {into / 'report.html'}")
    raise typer.Exit(exit_code_of_results(results))


@contextmanager
def _progress(*, wanted: bool) -> Iterator[Tell | None]:
    """A line for each person at work, and a count of those who are through."""
    console = progress_console() if wanted else None
    if console is None:
        yield None
        return
    from rich.progress import Progress as Bars
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Bars(*columns, console=console, transient=True) as bars:
        yield _teller(bars)


def _teller(bars: Bars) -> Tell:
    from rich.markup import escape

    guard = threading.Lock()
    rows: dict[str, TaskID] = {}
    through: list[str] = []
    total = bars.add_task("[dim]0 people through[/]", total=None)

    def tell(progress: Progress) -> None:
        with guard:
            if progress.status is None:
                line = f"[bold]{escape(progress.person)}[/]  {escape(progress.step)}"
                if progress.person in rows:
                    bars.update(rows[progress.person], description=line)
                else:
                    rows[progress.person] = bars.add_task(line, total=None)
                return
            if progress.person in rows:
                bars.remove_task(rows.pop(progress.person))
            through.append(progress.person)
            bars.update(total, description=f"[dim]{len(through)} people through[/]")

    return tell
