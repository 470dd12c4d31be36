"""What the video tests measure of their outputs."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np

from palprep.facts import Facts
from palprep.media import Source, probe_video
from palprep.rules import Report, judge, load_profile
from palprep.rules.plans import VideoPlan
from palprep.values import Outcome, Role

PROFILE = load_profile()


def video_plan(*, copy: bool = True, **more) -> VideoPlan:
    return VideoPlan(**{"reasons": (), "copy_video": copy, "copy_audio": copy, **more})


def times(path: Path) -> list[float]:
    """Presentation times of the frames."""
    with av.open(str(path)) as container:
        return [frame.time for frame in container.decode(video=0)]


def heard_at(path: Path) -> float:
    """When the first loud sound is heard, in seconds of presentation time."""
    with av.open(str(path)) as container:
        return next(
            frame.time + np.argmax(np.abs(frame.to_ndarray())) / frame.rate
            for frame in container.decode(audio=0)
            if np.abs(frame.to_ndarray()).max() > 0.4
        )


def first_frame(path: Path) -> np.ndarray:
    """The first frame as RGB, turned as its metadata asks."""
    with av.open(str(path)) as container:
        frame = next(container.decode(video=0))
        return np.rot90(frame.to_ndarray(format="rgb24"), frame.rotation // 90)


def report_of(path: Path) -> Report:
    """A training video judged by its packets alone: nobody looks at it or listens."""
    source, role = Source.of(path), Role.TRAINING_VIDEO
    facts = Facts(file=source.facts, video=probe_video(source))
    checks = judge(facts, role, PROFILE)
    return Report(path=str(path), role=role, profile=PROFILE.name, checks=checks, facts=facts)


def wanting(report: Report) -> set[str]:
    """What did not pass, apart from being as short and small as test videos are."""
    checks = report.having(Outcome.FAIL, Outcome.WARN)
    return {each.id for each in checks} - {"video_duration", "video_resolution"}
