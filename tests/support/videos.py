"""What the video tests measure of their outputs."""

from __future__ import annotations

import struct
from pathlib import Path

import av
import numpy as np
from heard import heard_video

from palprep.facts import Facts
from palprep.media.sources import Source
from palprep.rules import Report, judge, load_profile
from palprep.rules.plans import VideoPlan
from palprep.values import Outcome, Role

PROFILE = load_profile()


def video_plan(*, copy: bool = True, **more) -> VideoPlan:
    return VideoPlan(**{"reasons": (), "copy_video": copy, "copy_audio": copy, **more})


def edited(data: bytes, *shown: tuple[float, float], ticks: int = 0, scale: int = 0) -> bytes:
    """A movie with its index at its end, of which these stretches, in seconds, are shown.

    A second has ``ticks`` in the movie, and ``scale`` in a track.
    """
    boxes = b""
    while data:
        size, kind = struct.unpack_from(">I4s", data)
        body, data = data[8:size], data[size:]
        if kind == b"mvhd":
            [ticks] = struct.unpack_from(">I", body, 12)
        if kind == b"trak":
            [scale] = struct.unpack_from(">I", body, body.index(b"mdhd") + 16)
        if kind in {b"moov", b"trak", b"edts"}:
            body = edited(body, *shown, ticks=ticks, scale=scale)
        elif kind == b"elst":
            [begin] = struct.unpack_from(">i", body, 12)
            body = struct.pack(">II", 0, len(shown)) + b"".join(
                struct.pack(
                    ">IiI", round((end - start) * ticks), begin + round(start * scale), 1 << 16
                )
                for start, end in shown
            )
        boxes += struct.pack(">I4s", 8 + len(body), kind) + body
    return boxes


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
    facts = Facts(file=source.facts, video=heard_video(source))
    checks = judge(facts, role, PROFILE)
    return Report(path=str(path), role=role, profile=PROFILE.name, checks=checks, facts=facts)


def wanting(report: Report) -> set[str]:
    """What did not pass, apart from being as short and small as test videos are."""
    checks = report.having(Outcome.FAIL, Outcome.WARN)
    return {each.id for each in checks} - {"video_duration", "video_resolution"}
