"""A photograph with a voice is no consent, and whoever speaks is no photograph: real files."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from still_video import MOTIONS, still_video
from voices import voice_of

from palprep.facts import Speaker
from palprep.facts.timeline import STILL, STILL_AFTER_SAMPLES, timeline_of
from palprep.preflight import Preflight
from palprep.values import Outcome, Role

JANE = Speaker(full_name="Jane Carter")


@pytest.fixture(scope="module")
def preflight() -> Preflight:
    return Preflight()


def test_the_mouth_of_the_sample_moves_with_its_words(sample_media, preflight):
    path = sample_media / "people/jane-carter/consent.mp4"
    report = preflight.check(path, role=Role.CONSENT_VIDEO, speaker=JANE)
    assert report.check("mouth_moves").outcome is Outcome.PASS
    assert report.facts.timeline.mouth.variation > 0.12 > STILL


@pytest.mark.parametrize(("motion", "at_s"), tuple(zip(MOTIONS, (0.1, 5.0, 0.1), strict=True)))
def test_a_photograph_with_the_statement_fails(spoken_consent, preflight, tmp_path, motion, at_s):
    """With the mouth at rest, and once as it is while it speaks."""
    made = still_video(spoken_consent, tmp_path / "still.mp4", at_s=at_s, motion=motion)
    report = preflight.check(made, role=Role.CONSENT_VIDEO, speaker=JANE)
    # Everything else that is asked of the statement is there: the words, and one face.
    assert report.check("consent_spoken").outcome is Outcome.PASS
    assert report.check("consent_seen").outcome is Outcome.PASS
    assert report.check("mouth_moves").outcome is Outcome.FAIL
    assert report.verdict is Outcome.FAIL


@pytest.mark.corpus
def test_nobody_who_talks_in_the_corpora_is_called_still(corpora: Path, preflight):
    """Each as it was recorded, and as if somebody spoke all the time: some have no sound."""
    folder = corpora / "av"
    with (folder / "MANIFEST.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    talkers = [row["path"] for row in rows if row["talking"] == "1" and row["people"] != "0"]
    judged = 0
    for path in talkers:
        report = preflight.check(folder / path, role=Role.TRAINING_VIDEO)
        facts = report.facts
        if facts.audio is not None:
            assert report.check("mouth_moves").outcome is not Outcome.FAIL, path
        always = voice_of((0.0, facts.video.duration_s + 1), duration_s=facts.video.duration_s)
        mouth = timeline_of(facts.video, voice=always, footage=facts.footage).mouth
        assert not mouth.still, path
        judged += mouth.samples >= STILL_AFTER_SAMPLES
    assert judged >= 5
