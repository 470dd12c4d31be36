"""Several runs as one: the shards of a run, each with an output folder of its own."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from palprep.batch.outputs import view_of, write_outputs
from palprep.errors import UsageError
from palprep.fixes.output import unwritable
from palprep.journal.run_view import RunView
from palprep.journal.store import JOURNAL_NAME
from palprep.views.page import REPORT_NAME
from palprep.views.picture_folder import PICTURES_NAME


def write_merged_report(directories: Sequence[str | Path], into: str | Path) -> Path:
    """Write the results and the page of several runs into a folder of their own; the page's path.

    Files that lie within ``into``, as the folders of its shards do, can be opened from the page.

    Raises UsageError for runs that are no parts of one, or into a run's own folder; JournalError
    where a folder holds no run.
    """
    place, parts = Path(into), list(dict.fromkeys(Path(each).resolve() for each in directories))
    if (place / JOURNAL_NAME).exists():
        raise UsageError(
            f"{place} holds a run, whose results would be lost: give another --into folder"
        )
    whole = merged({each: view_of(each) for each in parts})
    for each in parts:
        _take_pictures(each / PICTURES_NAME, place / PICTURES_NAME)
    write_outputs(place, whole)
    return place / REPORT_NAME


def merged(runs: Mapping[Path, RunView]) -> RunView:
    """One run with the people of all, in the order of their names.

    Raises UsageError where one person is in two of them, or where they differ in what holds for
    all people: the service, the profile, a dry run.
    """
    (first_place, first), *others = runs.items()
    for place, run in others:
        for what in ("target", "profile", "dry_run"):
            if getattr(run, what) != getattr(first, what):
                raise UsageError(
                    f"{first_place} and {place} are no parts of one run: {what} is "
                    f"{getattr(first, what)} and {getattr(run, what)}"
                )
    known: dict[str, Path] = {}
    for place, run in runs.items():
        for person in run.people:
            before = known.setdefault(person.slug, place)
            if before != place:
                raise UsageError(
                    f"{person.slug} is in {before} and in {place}: merge parts that share nobody, "
                    "such as the shards of one run"
                )
    people = sorted(
        (person for run in runs.values() for person in run.people), key=lambda each: each.slug
    )
    return first.model_copy(
        update={
            "started_at": min(run.started_at for run in runs.values()),
            "updated_at": max(run.updated_at for run in runs.values()),
            "people": tuple(people),
        }
    )


def _take_pictures(source: Path, into: Path) -> None:
    """Pictures are named by what they show: those of a part serve the whole."""
    if not source.is_dir():
        return
    try:
        into.mkdir(parents=True, exist_ok=True)
        for picture in source.iterdir():
            target = into / picture.name
            if target.exists():
                continue
            try:
                target.hardlink_to(picture)
            except OSError:
                shutil.copyfile(picture, target)
    except OSError as error:
        raise unwritable(into, error) from None
