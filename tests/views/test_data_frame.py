"""Reports and runs as data frames."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from finished_runs import BAD, FULL, GOOD, UNKNOWN, person, report, run

from palprep.errors import ToolMissing, UsageError
from palprep.rules import Report
from palprep.values import Outcome
from palprep.views.data_frame import to_pandas

UNREADABLE = Report.model_validate(
    {
        "path": "b.jpg", "role": None, "profile": "core-4",
        "error": {"code": "media_damaged", "message": "does not decode"},
    }
)  # fmt: skip


def test_a_row_for_each_check_of_each_report() -> None:
    frame = to_pandas([report(GOOD, BAD), UNREADABLE, report(UNKNOWN)])
    assert list(frame["check"]) == ["image_format", "person_centered", "media_damaged", "no_nudity"]
    assert list(frame["file"]) == ["a.jpg", "a.jpg", "b.jpg", "a.jpg"]
    assert list(frame["outcome"]) == ["pass", "fail", "fail", "unknown"]
    assert frame.loc[1, "value"] == BAD.measured
    assert pd.isna(frame.loc[0, "value"])
    assert frame.loc[2, "sentence"] == "does not decode"
    assert list(to_pandas(report(GOOD, BAD))["check"]) == ["image_format", "person_centered"]


def test_a_frame_can_be_stored_as_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    measures = (7, 0.5, True, "jpeg", None)
    checks = [BAD.model_copy(update={"measured": each}) for each in measures]
    frame = to_pandas([report(*checks), UNREADABLE])
    frame.to_parquet(tmp_path / "checks.parquet")
    assert pd.read_parquet(tmp_path / "checks.parquet").equals(frame)
    assert list(frame["measured"])[:4] == [each.measure_words for each in checks[:4]]
    assert frame.loc[4:, "measured"].isna().all()


def test_outcomes_are_ordered_and_none_is_forgotten() -> None:
    frame = to_pandas([report(GOOD, BAD, UNKNOWN)])
    assert set(frame["outcome"].cat.categories) == {outcome.value for outcome in Outcome}
    assert frame["outcome"].max() == "fail"
    assert frame["outcome"].min() == "pass"
    assert list(frame.sort_values("outcome")["outcome"]) == ["pass", "unknown", "fail"]


def test_no_report_is_a_frame_all_the_same() -> None:
    assert list(to_pandas([]).columns) == list(to_pandas([report(GOOD)]).columns)
    assert to_pandas([]).empty


def test_a_row_for_each_person_of_a_run() -> None:
    frame = to_pandas(run(FULL, person(slug="bob")))
    assert list(frame.index) == ["ada", "bob"]
    ada = frame.loc["ada"]
    assert (ada["status"], ada["voice_id"], ada["face-image"]) == ("redo", "voice_7", "fail")
    assert ada["first_reason"] == FULL.reasons[0]
    assert frame.loc["bob", "reasons"] == 0
    assert pd.isna(frame.loc["bob", "training-video"])


@pytest.mark.parametrize("wrong", [None, 3, "checks.jsonl", [report(GOOD), 3]])
def test_what_no_frame_is_made_of_is_told(wrong: Any) -> None:
    with pytest.raises(UsageError, match="to_pandas takes RunView or Report or Prepared, not"):
        to_pandas(wrong)


def test_without_pandas_the_command_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ToolMissing, match="pandas"):
        to_pandas([])


def test_what_was_prepared_stands_for_its_report() -> None:
    ready = FULL.assets[0].prepared
    assert to_pandas(ready).equals(to_pandas(ready.report))
    assert to_pandas([ready, report(GOOD)]).equals(to_pandas([ready.report, report(GOOD)]))
