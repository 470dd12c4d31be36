"""Portraits through the whole loop: one that is cropped, and the labelled corpus."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from palprep.facts import Toolkit
from palprep.preflight import Preflight
from palprep.values import Outcome, Role
from palprep.vision import Models

FLOORS = {
    "only_one_person_visible": 0.93,
    "human_like_subject": 0.75,
    "appears_under_18": 0.8,
    "pose_suitable_for_replica": 0.88,
    "looking_straight_at_camera": 0.85,
    "head_fully_in_frame": 0.86,
    "person_centered": 0.97,
    "chest_up_framing_acceptable": 0.83,
    "face_substantially_obscured": 0.88,
    "image_quality_acceptable": 0.75,
}
"""Balanced accuracy with a warning counted as a pass and unknown as wrong, a little below what was
measured. Of what is no photographed person, covered or of poor quality only the sure cases fail.
What the limits were set on is named in docs/accuracy.md: these pictures are not among it."""

LET_THROUGH = 0.02
"""Share of what must not pass that may do so without a warning: oil paintings that could be
photographs."""


def test_a_face_at_the_side_is_cropped_and_proved(
    portrait_path: Path, tmp_path: Path, models: Models
) -> None:
    with Image.open(portrait_path) as opened:
        picture = opened.convert("RGB")
    picture.thumbnail((1000, 1000))
    wide = Image.new("RGB", (picture.width * 2 + 200, picture.height), picture.getpixel((2, 2)))
    wide.paste(picture, (0, 0))
    source = tmp_path / "wide.jpg"
    wide.save(source, quality=95)
    preflight = Preflight(toolkit=Toolkit(models))
    before = preflight.check(source)
    assert before.check("person_centered").outcome is Outcome.FAIL
    assert "crops it to" in (before.check("person_centered").advice or "")
    ready = preflight.prepare(source, into=tmp_path / "out")
    assert "crop" in {fix.id for fix in ready.fixes}
    assert ready.report.check("person_centered").outcome is Outcome.PASS


@pytest.mark.corpus
def test_labels_of_the_corpus_are_foretold(
    corpora: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate = importlib.import_module("research.evaluation.faces")
    folder = corpora / "faces"
    rows = evaluate.read_rows(folder / "labels.csv")
    reports = evaluate.judged(rows, folder, Preflight())
    found = {
        check_id: evaluate.balanced_accuracy(evaluate.cases_of(check_id, rows, reports))
        for check_id in evaluate.LABELS
    }
    assert {name: value for name, value in found.items() if value < FLOORS[name]} == {}
    unfit = evaluate.must_not_pass(rows)
    wrong = [row["path"] for row in unfit if evaluate.passes_silently(reports[row["path"]])]
    assert len(wrong) <= LET_THROUGH * len(unfit), wrong
    good = evaluate.good_portraits(rows)
    passing = [evaluate.passes_everything(reports[row["path"]]) for row in good]
    assert np.mean(passing) >= 0.85
    assert all(report.role is Role.FACE_IMAGE for report in reports.values())
