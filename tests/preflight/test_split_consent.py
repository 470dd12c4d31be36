"""A real training video in which something is said before the statement of consent."""

from __future__ import annotations

import subprocess

import imageio_ffmpeg
import pytest

from palprep import preflight
from palprep.errors import FixError, UsageError
from palprep.facts import Speaker
from palprep.preflight import loop
from palprep.rules.consent.checks import CONSENT_CHECKS, lacks_consent
from palprep.values import Outcome, Role

JANE = Speaker(full_name="Jane Carter")
CHATTER_S = 3.5


@pytest.fixture(scope="module")
def training(tmp_path_factory, light_people):
    """Talk for three seconds and a half, then the statement; small, to be quick."""
    jane = light_people / "jane-carter"
    path = tmp_path_factory.mktemp("made") / "training.mp4"
    inputs = ["-t", str(CHATTER_S), "-i", jane / "training.mp4", "-i", jane / "consent.mp4"]
    graph = "[0:v]scale=480:-2[a];[1:v]scale=480:-2[b];[a][0:a][b][1:a]concat=n=2:v=1:a=1[v][s]"
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", *inputs, "-filter_complex", graph,
               "-map", "[v]", "-map", "[s]", "-preset", "ultrafast", path]  # fmt: skip
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return path


def outcomes(report):
    return {check.id: check.outcome for check in report.checks if check.id in CONSENT_CHECKS}


def test_the_statement_becomes_a_consent_video_of_its_own(training, tmp_path):
    with pytest.raises(UsageError, match="give a speaker"):
        preflight.prepare(training, into=tmp_path, split_consent=True)
    prepared = preflight.prepare(training, into=tmp_path, speaker=JANE, split_consent=True)
    assert outcomes(prepared.report) == {}
    clip = prepared.consent
    assert clip.path.name == "training-consent.mp4"
    assert clip.report.role is Role.CONSENT_VIDEO
    assert outcomes(clip.report) == dict.fromkeys(CONSENT_CHECKS, Outcome.PASS)
    assert clip.report.facts.video.duration_s < 14
    assert clip.report.facts.consent.said_before == ""
    assert lacks_consent(prepared.report, clip.report) is None
    assert lacks_consent(prepared.report) is not None


def test_the_training_video_is_cut_so_that_it_opens_with_it(training, tmp_path, monkeypatch):
    reports, check = [], loop.check_source
    monkeypatch.setattr(
        loop, "check_source", lambda *args: reports.append(check(*args)) or reports[-1]
    )
    prepared = preflight.prepare(training, into=tmp_path, speaker=JANE)
    before = reports[0]
    assert before.check("consent_spoken").outcome is Outcome.PASS
    assert before.check("consent_first").outcome is Outcome.PASS, "a greeting"
    assert before.check("consent_start").outcome is Outcome.WARN
    assert "trim" in {fix.id for fix in prepared.fixes}
    assert outcomes(prepared.report) == dict.fromkeys(CONSENT_CHECKS, Outcome.PASS)
    assert prepared.report.check("consent_start").measured in {"0.1 s", "0.2 s", "0.3 s"}
    assert prepared.consent is None


def test_what_somebody_else_said_is_not_split_out(training, tmp_path):
    other = Speaker(full_name="Robert Miller")
    with pytest.raises(FixError, match=r"There is no consent in .*training\.mp4 to split out"):
        preflight.prepare(training, into=tmp_path, speaker=other, split_consent=True)
    assert list(tmp_path.iterdir()) == []
