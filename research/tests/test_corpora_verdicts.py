"""Verdicts on the development corpora: labelled portraits, and people who talk."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from voices import voice_of

from palprep.facts.facts import STILL_AFTER_SAMPLES
from palprep.preflight import check
from palprep.values import Outcome, Role
from research.evaluation import faces as evaluate

pytestmark = pytest.mark.corpus

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

TOO_LIKE_A_PHOTOGRAPH = {"images/208_human_cgi-model-14.jpg"}
"""A rendering that reads more human than 29 of 456 fit portraits, mostly of women with dark skin or
a headscarf: nobody is asked for its sake (docs/accuracy.md)."""

LET_THROUGH = 0.02
"""Share of what must not pass that may do so without a warning: oil paintings that could be
photographs."""


def test_labels_of_the_corpus_are_foretold(corpora: Path) -> None:
    folder = corpora / "faces"
    rows = evaluate.read_rows(folder / "labels.csv")
    reports = evaluate.judged(rows, folder)
    found = {
        check_id: evaluate.balanced_accuracy(evaluate.cases_of(check_id, rows, reports))
        for check_id in evaluate.LABELS
    }
    assert {name: value for name, value in found.items() if value < FLOORS[name]} == {}
    unfit = evaluate.must_not_pass(rows)
    silent = {row["path"] for row in unfit if evaluate.passes_silently(reports[row["path"]])}
    wrong = silent - TOO_LIKE_A_PHOTOGRAPH
    assert len(wrong) <= LET_THROUGH * len(unfit), wrong
    good = evaluate.good_portraits(rows)
    passing = [evaluate.passes_everything(reports[row["path"]]) for row in good]
    assert np.mean(passing) >= 0.85
    assert all(report.role is Role.FACE_IMAGE for report in reports.values())


def test_nobody_who_talks_in_the_corpora_is_called_still(corpora: Path) -> None:
    """Each as it was recorded, and as if somebody spoke all the time: some have no sound. No copies
    that were encoded again."""
    folder = corpora / "av"
    with (folder / "MANIFEST.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    recorded = (row for row in rows if not row["source"].startswith("derived"))
    talkers = [row["path"] for row in recorded if row["talking"] == "1" and row["people"] != "0"]
    judged = 0
    for path in talkers:
        report = check(folder / path, role=Role.TRAINING_VIDEO)
        facts = report.facts
        if facts.audio is not None:
            assert report.check("mouth_moves").outcome is not Outcome.FAIL, path
        always = voice_of((0.0, facts.video.duration_s + 1), duration_s=facts.video.duration_s)
        mouth = facts.model_copy(update={"voice": always, "consent": None}).timeline.mouth
        assert not mouth.still, path
        judged += mouth.samples >= STILL_AFTER_SAMPLES
    assert judged >= 5
