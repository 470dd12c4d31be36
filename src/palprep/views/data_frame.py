"""Reports and runs as pandas data frames, to be counted, filtered and charted."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palprep.errors import ToolMissing
from palprep.journal.runs import RunView
from palprep.preflight import Prepared
from palprep.rules import Report
from palprep.values import Outcome, Role, Value, require_type
from palprep.views.outcomes import OUTCOMES
from palprep.vocabulary import install_advice

if TYPE_CHECKING:
    import pandas as pd


def to_pandas(shown: Report | Prepared | RunView | Iterable[Report | Prepared]) -> pd.DataFrame:
    """One row for each check of a report, or of many; or one row for each person of a run. A
    prepared file stands for its report.

    Columns of checks: ``file``, ``role``, ``profile``, ``verdict``, ``check`` (its id), ``label``,
    ``outcome`` (ordered from pass to fail), ``sentence``, ``advice``, ``measured`` (in words, so
    that the frame can be stored as Parquet), ``value`` (the measure where it is one number, else
    NaN), ``at_least``, ``at_most``, ``limit``, ``source``, ``follows`` (the check that tells the
    same finding) and ``path``. A file that could not be read has one row, whose check is the
    error's code and whose sentence is the error.

    Columns of people, indexed by ``person``: ``status``, ``first_reason``, ``reasons`` (how many),
    ``voice_id``, ``voice_status``, ``replica_id``, ``replica_status``, ``seconds`` (spent on the
    files), and the verdict on the file of each role.

    Raises UsageError for anything else, and ToolMissing without pandas (extra ``pandas``).
    """
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise ToolMissing(f"A data frame needs pandas: {install_advice('pandas')}") from None
    if isinstance(shown, RunView):
        people = [
            {
                **person.standing.to_json(),
                "first_reason": person.reasons[0] if person.reasons else None,
                "reasons": len(person.reasons),
                "seconds": sum(asset.seconds for asset in person.assets),
                **{asset.role.value: asset.report.verdict.value for asset in person.assets},
            }
            for person in shown.people
        ]
        return pandas.DataFrame(people, columns=[*_PERSON_COLUMNS]).set_index("person")
    many = isinstance(shown, Iterable) and not isinstance(shown, Value)
    given: list[Any] = [*shown] if many else [shown]
    for each in given:
        require_type("to_pandas", each, RunView | Report | Prepared)
    reports = [each.report if isinstance(each, Prepared) else each for each in given]
    rows = [row for report in reports for row in _check_rows(report)]
    frame = pandas.DataFrame(rows, columns=[*_CHECK_COLUMNS])
    for column in ("verdict", "outcome"):
        frame[column] = pandas.Categorical(frame[column], [*OUTCOMES][::-1], ordered=True)
    return frame


_CHECK_COLUMNS = (
    *("file", "role", "profile", "verdict", "check", "label", "outcome", "sentence", "advice"),
    *("measured", "value", "at_least", "at_most", "limit", "source", "follows", "path"),
)
_PERSON_COLUMNS = (
    *("person", "status", "first_reason", "reasons", "voice_id", "voice_status"),
    *("replica_id", "replica_status", "seconds", *(role.value for role in Role)),
)


def _check_rows(report: Report) -> Iterator[dict[str, Any]]:
    of_file = {
        "file": Path(report.path).name,
        "role": report.role.value if report.role else None,
        "profile": report.profile,
        "verdict": report.verdict.value,
        "path": report.path,
    }
    if report.error is not None:
        error = {"check": report.error.code, "sentence": report.error.message}
        yield {**of_file, **error, "outcome": Outcome.FAIL.value}
    for check in report.checks:
        number = isinstance(check.measured, int | float) and not isinstance(check.measured, bool)
        value = check.measured if number else None
        words = None if check.measured is None else check.measure_words
        # pandas leaves out the fields that are no columns.
        row = {"check": check.id, "measured": words, "value": value, "outcome": check.outcome.value}
        yield {**dict(check), **of_file, **row}
