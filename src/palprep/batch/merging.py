"""Several runs as one: the shards of a run, each with an output folder of its own."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from palprep.batch.outputs import run_in, write_outputs
from palprep.errors import UsageError
from palprep.fixes.output import unwritable
from palprep.journal.run_view import PersonView, ReadableRun
from palprep.journal.store import JOURNAL_NAME, Journal
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
    with contextlib.ExitStack() as stack:
        journals = {each: stack.enter_context(Journal.of(each)) for each in parts}
        whole = Merged({each: run_in(each, journal) for each, journal in journals.items()})
        for each in parts:
            _take_pictures(each / PICTURES_NAME, place / PICTURES_NAME)
        write_outputs(place, whole, again=True)
    return place / REPORT_NAME


class Merged:
    """Runs by their folders, as one run with the people of all, in the order of their names.

    Raises UsageError where one person is in two of them, or where they differ in what holds for
    all people: the service, the profile, a dry run.
    """

    def __init__(self, runs: Mapping[Path, ReadableRun]) -> None:
        (first_place, first), *others = ((place, run.head) for place, run in runs.items())
        for place, head in others:
            for what in ("target", "profile", "dry_run"):
                if getattr(head, what) != getattr(first, what):
                    raise UsageError(
                        f"{first_place} and {place} are no parts of one run: {what} is "
                        f"{getattr(first, what)} and {getattr(head, what)}"
                    )
        self._home: dict[str, ReadableRun] = {}
        known: dict[str, Path] = {}
        for place, run in runs.items():
            for person in run.people:
                before = known.setdefault(person.slug, place)
                if before != place:
                    raise UsageError(
                        f"{person.slug} is in {before} and in {place}: merge parts that share "
                        "nobody, such as the shards of one run"
                    )
                self._home[person.slug] = run
        self.people = sorted(
            (person for run in runs.values() for person in run.people), key=lambda each: each.slug
        )
        heads = [run.head for run in runs.values()]
        self.head = first.model_copy(
            update={
                "started_at": min(head.started_at for head in heads),
                "updated_at": max(head.updated_at for head in heads),
            }
        )

    def mark(self, slug: str) -> str:
        """See :meth:`RunView.mark`."""
        return self._home[slug].mark(slug)

    def person(self, slug: str) -> PersonView:
        """See :meth:`RunView.person`."""
        return self._home[slug].person(slug)


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
