"""What a command says last: how many of what, and the command that goes on."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from palprep.vocabulary import Outcome

if TYPE_CHECKING:
    import datetime as dt

    from palprep.consent.facts import ConsentFacts
    from palprep.dossier.files import ExaminedDossier
    from palprep.preflight.prepared import Prepared
    from palprep.preflight.rank import Candidate
    from palprep.rules.profile import Profile
    from palprep.rules.report import Report

_MEND = "Next: do what the findings say, and run the same command again."

_NAMED = 3
"""Paths that a next command repeats; of more, the user knows best."""


class Tally:
    """Counts reports, and remembers whether a fix would help; the reports themselves go."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._kinds: Counter[str] = Counter()
        self._fixable = False

    def add(self, report: Report) -> None:
        """Count one more."""
        from palprep.rules.plans.planner import plan

        self._kinds["unread" if report.error else report.verdict] += 1
        if report.facts is not None and report.verdict in {Outcome.FAIL, Outcome.WARN}:
            self._fixable = self._fixable or plan(report, self._profile) is not None

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not (self._kinds[Outcome.FAIL] or self._kinds["unread"])

    def summary(self, passed_over: Sequence[Path] = ()) -> str:
        """How many files came out how, and what in the folders was no media: ``3 files: 1 passed,
        2 failed.``
        """
        from palprep.rules.measures import counted

        said = (
            (Outcome.PASS, "passed"),
            (Outcome.WARN, "passed with warnings"),
            (Outcome.FAIL, "failed"),
            ("unread", "could not be read"),
            (Outcome.UNKNOWN, "could not be judged"),
        )
        found = ", ".join(f"{self._kinds[each]} {how}" for each, how in said if self._kinds[each])
        files = counted(self._kinds.total(), "file", "files")
        return f"{files}: {found}.{_besides(passed_over)}"

    def next(self, paths: Sequence[Path]) -> str:
        """What to do now: the fix that helps, or the retake."""
        if self._fixable:
            return f"Next: palprep fix {shown(paths)} --into prepared"
        if self.passed:
            return "Next: nothing to fix. `palprep run FOLDER` sends what is in a folder of people."
        return _MEND


def _besides(passed_over: Sequence[Path]) -> str:
    if not passed_over:
        return ""
    names = ", ".join(path.name for path in passed_over[:_NAMED])
    more = f" and {len(passed_over) - _NAMED} more" if len(passed_over) > _NAMED else ""
    return f" Passed over, without media: {names}{more}."


def fixed_summary_of(made: Sequence[Prepared], rejected: Path, *, failed: int) -> str:
    """How many new files there are, and where. ``failed`` sources became none."""
    from palprep.rules.measures import counted

    fit = sum(each.report.passed for each in made)
    said = [f"{counted(fit, 'new file is', 'new files are')} fit." if fit else "No file is fit."]
    if fit < len(made):
        apart = counted(len(made) - fit, "new file is", "new files are")
        said.append(f"{apart} set apart in {rejected}.")
    if failed:
        said.append(f"{counted(failed, 'file', 'files')} could not be fixed.")
    return " ".join(said)


def next_after_fix(made: Sequence[Prepared], into: Path) -> str:
    """What to do after files were fixed."""
    if made and all(each.report.passed for each in made):
        return f"Next: publish what is in {into}; or let `palprep run FOLDER` do all steps."
    return _MEND


def next_after_ranking(ranked: Sequence[Candidate], kept: Path | None) -> str:
    """What was ranked, and what to do with the best of it, or with its copy that was ``kept``."""
    from palprep.rules.measures import counted

    best, fit = ranked[0], sum(not each.failed for each in ranked)
    frames = best.at_s is not None
    looked = counted(len(ranked), *(("frame", "frames") if frames else ("image", "images")))
    passing = f"{fit} of {looked} {'passes' if fit == 1 else 'pass'}."
    if best.failed:
        return f"None of {looked} passes. Next: take another one, as the failing checks say."
    if frames and kept is None:
        return f"{passing} Next: palprep best {shown([Path(best.path)])} --into FOLDER keeps it."
    return f"{passing} Next: palprep fix {shown([kept or Path(best.path)])} --into prepared"


def next_after_consent(consent: ConsentFacts, file: Path) -> str:
    """What to do with a statement that was listened to."""
    if consent.outcome is Outcome.UNKNOWN:
        return "Next: do what the reasons say, and run the same command again."
    if not consent.outcome.passed:
        return "Next: record the statement again, word for word, and run the same command."
    fix = f"palprep fix {shown([file])} --name {shlex.quote(consent.full_name)} --into prepared"
    return f"Next: {fix}"


def next_after_dossiers(
    examined: Sequence[ExaminedDossier],
    paths: Sequence[Path],
    store: str | None,
    export: Path | None,
    now: dt.datetime,
) -> str:
    """How many dossiers hold, and what to do with them."""
    from palprep.rules.measures import counted
    from palprep.views.dossier_words import standing

    words = Counter(standing(each, now).word.lower() for each in examined)
    found = ", ".join(f"{count} {word}" for word, count in words.items())
    said = f"{counted(len(examined), 'dossier', 'dossiers')}: {found}."
    if export is not None:
        return f"{said} Next: open {export}"
    files = [file for each in examined for file in each.files]
    if any(file.what == "output" and file.state == "missing" for file in files):
        return (
            f"{said} Next: put the missing video next to its dossier; where a cluster prepared it, "
            "name the bucket with --store."
        )
    if words["flawed"]:
        return f"{said} Next: find out what was changed. Until then, use nothing that it is about."
    if words["void"]:
        return f"{said} Next: where a consent does not hold, delete what was made of the person."
    where = "" if store is None else f" --store {shlex.quote(store)}"
    return f"{said} Next: palprep dossier {shown(paths)}{where} --export consent.html"


def shown(paths: Sequence[Path]) -> str:
    """Paths as a shell takes them; ``PATH...`` for many."""
    return shlex.join(map(str, paths)) if len(paths) <= _NAMED else "PATH..."
