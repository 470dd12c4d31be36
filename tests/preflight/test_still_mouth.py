"""A photograph with a voice is no consent: real files."""

from __future__ import annotations

import pytest
from still_video import MOTIONS, still_video

from palprep import preflight
from palprep.facts import Speaker
from palprep.values import Outcome, Role

JANE = Speaker(full_name="Jane Carter")


@pytest.mark.parametrize(("motion", "at_s"), tuple(zip(MOTIONS, (0.1, 5.0, 0.1), strict=True)))
def test_a_photograph_with_the_statement_fails(spoken_consent, tmp_path, motion, at_s):
    """With the mouth at rest, and once as it is while it speaks."""
    made = still_video(spoken_consent, tmp_path / "still.mp4", at_s=at_s, motion=motion)
    report = preflight.check(made, role=Role.CONSENT_VIDEO, speaker=JANE)
    # Everything else that is asked of the statement is there: the words, and one face.
    assert report.check("consent_spoken").outcome is Outcome.PASS
    assert report.check("consent_seen").outcome is Outcome.PASS
    assert report.check("mouth_moves").outcome is Outcome.FAIL
    assert report.verdict is Outcome.FAIL
