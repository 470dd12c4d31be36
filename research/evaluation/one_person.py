"""Whether another person in the second half of a statement is told, and no genuine talker is.

    python -m research.evaluation.one_person TALKERS [--blind] [--table docs/accuracy.md]

TALKERS holds the footage that material/talkers.csv names, as owner/name/path. Of each stretch of 10
s and more the first 12 s are measured as ``check`` measures a consent video: faces once a second,
and all of the speech. Nothing was fitted on any of them. The forgeries are halves of two people, in
picture and sound: each stretch is followed by those of other people, in turn.

Prints how many there are on either side of the limits; with --table that goes into the document.
With --blind that is of people who were labelled after every limit had been set.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from palprep.errors import FileMissing
from palprep.facts.video_probing import FRAME_SIDE
from palprep.media.images import SampledFrame, sample_frames
from palprep.media.sound.decoding import stream_samples
from palprep.media.sources import Source
from palprep.rules import load_profile
from palprep.speech import RATE_HZ
from palprep.speech.arrays import Floats
from palprep.speech.voice_meter import VoiceMeter
from palprep.values import Role
from palprep.vision import Models, analyse_footage
from research.evaluation.lips import Talker, read_talkers
from research.evaluation.portraits import share_of
from research.marked import replace_marked

LEAST_S, LENGTH_S = 10.0, 12.0
OTHERS = 3
"""People who take the second half of each stretch."""


class Clip(NamedTuple):
    """What is seen and heard of a talker, once a second and at 16 kHz."""

    talker: Talker
    frames: tuple[SampledFrame, ...]
    sound: Floats


def clip_of(talker: Talker, folder: Path) -> Clip:
    """The first :data:`LENGTH_S` of the stretch."""
    source = Source.of(folder / talker.source / talker.path)
    ends_s = min(talker.end_s, talker.start_s + LENGTH_S)
    frames = tuple(
        SampledFrame(frame.at_s - talker.start_s, frame.rgb.copy())
        for frame in sample_frames(
            source, per_second=1, max_side=FRAME_SIDE, from_s=talker.start_s, most_s=ends_s
        )
    )
    sound = np.concatenate(list(stream_samples(source, rate_hz=RATE_HZ)))
    return Clip(talker, frames, sound[int(talker.start_s * RATE_HZ) : int(ends_s * RATE_HZ)])


def joined(one: Clip, other: Clip) -> Clip:
    """The first half of one, and the second half of the other."""
    count = min(len(one.frames), len(other.frames))
    frames = [*one.frames[: count // 2], *other.frames[count // 2 : count]]
    frames = [each._replace(at_s=float(at)) for at, each in enumerate(frames)]
    half = min(len(one.sound), len(other.sound)) // 2
    sound = np.concatenate((one.sound[:half], other.sound[half : 2 * half]))
    return Clip(one.talker, tuple(frames), sound)


def similarity_of(clip: Clip, models: Models) -> float | None:
    """What ``same_person_throughout`` measures, None with fewer than three faces."""
    count = len(clip.frames)
    seen = analyse_footage(clip.frames, models, every_s=1.0, count=count, close_looks=0).seen
    alike = sorted(each.similarity for each in seen if each.similarity is not None)
    return alike[1] if len(alike) > 1 else None


def several_of(clip: Clip) -> bool | None:
    """What ``voice_one_speaker`` measures: whether several speak, None where it is not told."""
    meter = VoiceMeter(RATE_HZ, 1)
    meter.push(clip.sound[None])
    return meter.facts().speakers.several


def table(clips: Sequence[Clip], models: Models) -> Iterator[str]:
    """Lines of Markdown: what both checks say of genuine stretches, and of forged ones."""
    forged = [
        joined(clip, others[at * len(others) // OTHERS])
        for clip in clips
        for others in [[each for each in clips if each.talker.person != clip.talker.person]]
        for at in range(OTHERS)
    ]
    limits = load_profile().for_role(Role.CONSENT_VIDEO)["same_person_throughout"]
    yield "| Shown | Stretches | another face | nearest to the limit | several voices | not told |"
    yield "|---|---|---|---|---|---|"
    for kind, shown in (("one person", clips), ("another from the middle on", forged)):
        measured = [similarity_of(clip, models) for clip in shown]
        alike = [each for each in measured if each is not None]
        told = [several_of(clip) for clip in shown]
        others = sum(not all(limit.holds(each) for limit in limits) for each in alike)
        edge = min(alike) if shown is clips else max(alike)
        several, untold = (share_of(told.count(each), len(told), 1) for each in (True, None))
        other = share_of(others, len(alike), 1)
        yield f"| {kind} | {len(shown)} | {other} | {edge:.2f} | {several} | {untold} |"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("talkers", type=Path)
    parser.add_argument("--blind", action="store_true", help="people whom no limit has seen")
    parser.add_argument("--table", type=Path, help="the document with a place for it")
    options = parser.parse_args(arguments)
    clips = []
    for talker in read_talkers(blind=options.blind):
        if talker.end_s - talker.start_s >= LEAST_S:
            try:
                clips.append(clip_of(talker, options.talkers))
            except FileMissing as error:
                print(f"left out: {error}", file=sys.stderr)
    print(len({clip.talker.person for clip in clips}), "people", file=sys.stderr)
    lines = list(table(clips, Models()))
    print(*lines, sep="\n")
    if options.table:
        replace_marked(options.table, f"one person{'-blind' * options.blind}", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
