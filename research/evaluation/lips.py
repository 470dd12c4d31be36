"""Whether footage that was forged under somebody's words is found, and no genuine talker is.

    python -m research.evaluation.lips TALKERS [--blind] [--table docs/accuracy.md]

TALKERS holds the footage that material/talkers.csv names, as owner/name/path. Every stretch of it
shows one person who is heard talking. It is measured as ``check`` measures a statement, and once
more with the picture moved, enlarged, noisy and strongly compressed, as forgers leave it. Of both
forgeries are made: a photograph that sways, a picture that freezes halfway, loops, whose rounds
come from the one and the other by turns, a photograph whose mouth opens with the loudness of the
sound, and the same whose head is drawn over its surroundings before a steadier camera. What is
measured is kept in TALKERS/.kept.

The sound is shifted, and taken from other people and from other words of the same: do lips and
sound still go together? That is judged on sources alone that nothing was fitted on.

Prints how many fail, by the length of the speech and, of the genuine, by source; with --table it
goes into the document. --blind takes people who were labelled after every limit had been set.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import palprep.media.images.frames
import palprep.vision.footage
import palprep.vision.landmarks
import palprep.vision.pose
import palprep.vision.surroundings
from palprep.consent import FRAMES_PER_S, LipsFacts, measure_lips
from palprep.consent.lips import STEP_S, LipSync, on_grid, synchrony_of
from palprep.errors import FileMissing
from palprep.facts.video_probing import FRAME_SIDE
from palprep.media import probe_video, with_sound
from palprep.media.images import SampledFrame, sample_frames
from palprep.media.sound import probe_audio
from palprep.media.sound.decoding import stream_samples
from palprep.media.sources import Source
from palprep.rules import Profile, load_profile
from palprep.speech import RATE_HZ, speech_spans
from palprep.values import Role, Span
from palprep.vision import FaceTrack, Models, follow_face
from research.evaluation.photographs import loudness, puppet, worn
from research.evaluation.portraits import share_of
from research.marked import replace_marked
from research.material.kept_facts import version_of
from research.material.sources_and_labels import MATERIAL

LENGTHS_S = (3.0, 5.0, 8.0, 12.0)
STILL_FRAMES = 50
SILENCE = np.zeros(0, np.float32)
SYNC_LENGTHS_S = (5.0, 8.0, 12.0)
PHOTOGRAPH_LENGTHS_S = (10.0, 12.0)
SHIFTS_S = (0.4, 1.0)
HIDDEN_S = (0.4, 1.2)
"""How long lips are hidden by whoever wants no one to see them, and how often."""
STEADIER, SWAY = 0.25, 0.06
"""The share of the camera's motion, and how far the head sways to either side, in widths of the
face: of people who talk one in six moves less."""
DUBS = 3
"""Other people's sound that every stretch is held against."""
CODE = (
    *(palprep.media.images.frames, palprep.vision.landmarks),
    *(palprep.vision.footage, palprep.vision.surroundings, palprep.vision.pose),
)


class Talker(NamedTuple):
    """A row of talkers.csv: a stretch of a file in which one person talks and is seen."""

    source: str
    commit: str
    path: str
    start_s: float
    end_s: float
    person: str
    use: str
    """``fit``, ``measure`` (nothing is fitted on it), or ``blind`` (no limit is set by it)."""
    licence: str
    seen: str
    """What an eye made of it."""


class Seen(NamedTuple):
    """What is measured of a talker. Times count from the start of the stretch."""

    talker: Talker
    genuine: FaceTrack
    worn: FaceTrack
    still: FaceTrack
    puppet: FaceTrack
    """A photograph with a mouth that was animated, 12 s at the most."""
    swayed: FaceTrack
    """The same, with a head that sways before a camera that moves a quarter as far."""
    speech: tuple[Span, ...]
    sound: NDArray[np.float32]
    """Mono at 16 kHz, from the start of the stretch."""


def read_talkers(*, blind: bool = False) -> list[Talker]:
    """Those of the use ``blind``, or all others."""
    with (MATERIAL / "talkers.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))[1:]
    talkers = [Talker(a, b, c, float(at), float(to), *more) for a, b, c, at, to, *more in rows]
    return [each for each in talkers if (each.use == "blind") == blind]


def seen_of(talker: Talker, folder: Path, models: Models) -> Seen:
    """Measured, or what is kept of it."""
    key = hashlib.sha256(repr(talker[:5]).encode()).hexdigest()[:20]
    file = folder / ".kept" / f"lips-{version_of(CODE, ('landmarks', 'detector'))}" / f"{key}.npz"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        source = Source.of(folder / talker.source / talker.path)
        heard = probe_audio(source, sinks=lambda _: ())
        starts_s, late_s = with_sound(probe_video(source), heard).player_times
        frames = [
            SampledFrame(frame.at_s - starts_s - talker.start_s, frame.rgb)
            for frame in sample_frames(
                source,
                per_second=FRAMES_PER_S,
                max_side=FRAME_SIDE,
                from_s=talker.start_s + starts_s,
                most_s=talker.end_s + starts_s,
            )
        ]
        rng = np.random.default_rng(1)
        middle = frames[len(frames) // 2].rgb
        sound = np.concatenate(list(stream_samples(source, rate_hz=RATE_HZ)))
        begin, end = ((at - late_s) * RATE_HZ for at in (talker.start_s, talker.end_s))
        sound = sound[max(0, int(begin)) : int(end)]
        opened = loudness(sound)[: len(frames)]
        tracks = (
            follow_face(frames, models),
            follow_face((each._replace(rgb=worn(each.rgb, rng)) for each in frames), models),
            follow_face(
                (each._replace(rgb=worn(middle, rng)) for each in frames[:STILL_FRAMES]), models
            ),
            *(
                follow_face(
                    (SampledFrame(at / FRAMES_PER_S, rgb) for at, rgb in enumerate(shown)), models
                )
                for shown in (
                    puppet(middle, opened, models, rng),
                    puppet(middle, opened, models, rng, camera=STEADIER, sway=SWAY),
                )
            ),
        )
        named = {f"{name}{index}": array for index, track in enumerate(tracks)
                 for name, array in track._asdict().items()}  # fmt: skip
        np.savez(file, sound=sound, **named)
    with np.load(file) as kept:
        genuine, again, still, animated, swayed = (
            FaceTrack(*(kept[f"{name}{index}"] for name in FaceTrack._fields)) for index in range(5)
        )
        sound = kept["sound"]
        return Seen(talker, genuine, again, still, animated, swayed, speech_spans(sound), sound)


def photograph(seen: Seen, _: float) -> FaceTrack:
    """One picture all the while."""
    at = np.arange(len(seen.genuine.at_s)) % len(seen.still.shape)
    return FaceTrack(seen.genuine.at_s, *(each[at] for each in seen.still[1:]))


def frozen(seen: Seen, length_s: float) -> FaceTrack:
    """A picture that stands still from the middle on."""
    until = seen.genuine.at_s < length_s / 2
    shape = np.where(until[:, None], seen.genuine.shape, photograph(seen, length_s).shape)
    return seen.genuine._replace(shape=shape)


def looped(period_s: float, *, back: bool = False) -> Callable[[Seen, float], FaceTrack]:
    """Footage of that length again and again, with ``back`` every second time backwards."""

    def forge(seen: Seen, _: float) -> FaceTrack:
        count = min(len(seen.genuine.at_s), len(seen.worn.at_s))
        steps = max(2, round(period_s * FRAMES_PER_S))
        rounds, at = np.divmod(np.arange(count), steps)
        at = np.where(back & (rounds % 2 == 1), steps - 1 - at, at).clip(max=count - 1)
        shape = np.where(rounds[:, None] % 2, seen.worn.shape[at], seen.genuine.shape[at])
        return FaceTrack(*(each[:count] for each in seen.genuine))._replace(shape=shape)

    return forge


FORGERIES: Mapping[str, Callable[[Seen, float], FaceTrack]] = {
    "genuine": lambda seen, _: seen.genuine,
    "genuine, worn": lambda seen, _: seen.worn,
    "photograph that sways": photograph,
    "frozen halfway": frozen,
    "loop of 1 s": looped(1.0),
    "loop of 2.5 s": looped(2.5),
    "loop of 4 s": looped(4.0),
    "1.5 s back and forth": looped(1.5, back=True),
}


def fails(lips: LipsFacts, profile: Profile) -> bool:
    """Whether a check of the lips fails."""
    limits = profile.for_role(Role.CONSENT_VIDEO)
    measured = {"lips_keep_moving": lips.motion, "lips_not_repeated": lips.repeat}
    return any(
        value is not None and not all(limit.holds(value) for limit in limits[check_id])
        for check_id, value in measured.items()
    )


def stretches(seen: Seen, length_s: float) -> Iterator[Seen]:
    """The talker's stretch cut into such lengths, one after the other; those of seven eighths of
    the longer lengths count, too."""
    spare_s = seen.talker.end_s - seen.talker.start_s - 0.875 * length_s
    for start in np.arange(0.0, spare_s + 1e-6, length_s):
        span = Span(start_s=start, end_s=start + length_s)
        yield seen._replace(
            genuine=_cut(seen.genuine, span),
            worn=_cut(seen.worn, span),
            puppet=_cut(seen.puppet, span),
            swayed=_cut(seen.swayed, span),
            speech=tuple(each.moved(-start) for each in seen.speech),
            sound=seen.sound[int(start * RATE_HZ) :],
        )


def _cut(track: FaceTrack, span: Span) -> FaceTrack:
    kept = (track.at_s >= span.start_s) & (track.at_s < span.end_s)
    return FaceTrack(track.at_s[kept] - span.start_s, *(each[kept] for each in track[1:]))


def table(all_seen: Sequence[Seen], profile: Profile) -> Iterator[str]:
    """How many fail, by kind and length; and the genuine by source."""
    yield f"| Shown | {' | '.join(f'{length:g} s' for length in LENGTHS_S)} |"
    yield f"|---|{'---|' * len(LENGTHS_S)}"
    by_source: dict[str, list[bool]] = defaultdict(list)
    for kind, forge in FORGERIES.items():
        cells = []
        for length_s in LENGTHS_S:
            found = []
            for seen in (part for each in all_seen for part in stretches(each, length_s)):
                span = Span(start_s=0.0, end_s=length_s)
                track = forge(seen, length_s)
                lips = measure_lips(track, span, seen.speech, SILENCE, stated=True)
                found.append(fails(lips, profile))
                if kind == "genuine":
                    by_source[seen.talker.source].append(found[-1])
            cells.append(share_of(sum(found), len(found)))
        yield f"| {kind} | {' | '.join(cells)} |"
    yield ""
    yield (
        f"Genuine stretches that failed, by source ({len(by_source)} sources): "
        + (
            ", ".join(
                f"{name} {sum(f)} of {len(f)}" for name, f in sorted(by_source.items()) if any(f)
            )
            or "none"
        )
        + "."
    )


def photograph_table(
    check_id: str, measure: str, all_seen: Sequence[Seen], profile: Profile
) -> Iterator[str]:
    """How many are doubted as photographs by one check, and what comes nearest to the limit."""
    limits = profile.for_role(Role.CONSENT_VIDEO)[check_id]
    yield f"| Shown | {' | '.join(f'{length:g} s' for length in PHOTOGRAPH_LENGTHS_S)} |"
    yield f"|---|{'---|' * len(PHOTOGRAPH_LENGTHS_S)}"
    shown = {
        "genuine": "genuine",
        "genuine, worn": "worn",
        "animated photograph": "puppet",
        "animated photograph whose head sways": "swayed",
    }
    for kind, name in shown.items():
        cells = []
        for length_s in PHOTOGRAPH_LENGTHS_S:
            span = Span(start_s=0.0, end_s=length_s)
            parts = [part for each in all_seen for part in stretches(each, length_s)]
            lips = (measure_lips(getattr(part, name), span, (), SILENCE, stated=True)
                    for part in parts)  # fmt: skip
            found = [value for each in lips if (value := getattr(each, measure)) is not None]
            doubted = sum(not all(limit.holds(each) for limit in limits) for each in found)
            nearest = max(found) if name in {"puppet", "swayed"} else min(found)
            cells.append(f"{share_of(doubted, len(found))}; {nearest:.3f}")
        yield f"| {kind} | {' | '.join(cells)} |"


def sounds_of(part: Seen, all_seen: Sequence[Seen]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Its own sound, that sound late, and other sounds, by what they are."""
    length = int(part.talker.end_s - part.talker.start_s) * RATE_HZ
    yield "genuine", part.sound
    for shift_s in SHIFTS_S:
        yield f"sound late by {shift_s:g} s", np.roll(part.sound, round(shift_s * RATE_HZ))
    others = [each for each in all_seen if each.talker.person != part.talker.person]
    others = [each for each in others if len(each.sound) >= 0.875 * length]
    for index in range(min(DUBS, len(others))):
        at = (index * 7 + len(part.sound)) % len(others)
        yield "another's sound", others[at].sound
    for each in all_seen:
        same = each.talker.person == part.talker.person and each.talker != part.talker
        if same and len(each.sound) >= 0.875 * length:
            yield "other words of the same", each.sound
            return


def sync_table(all_seen: Sequence[Seen], profile: Profile) -> Iterator[str]:
    """How many are doubted, of people that nothing was fitted on."""
    unseen = [each for each in all_seen if each.talker.use != "fit"]
    limits, sync = profile.for_role(Role.CONSENT_VIDEO)["lip_sync"], LipSync.load()
    yield f"| Sound | {' | '.join(f'{length:g} s' for length in SYNC_LENGTHS_S)} |"
    yield f"|---|{'---|' * len(SYNC_LENGTHS_S)}"
    counts: dict[str, dict[float, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for length_s in SYNC_LENGTHS_S:
        for part in (part for each in unseen for part in stretches(each, length_s)):
            track, times = part.genuine, np.arange(0.0, length_s, STEP_S)
            lips, known = on_grid(track.at_s, track.lips, times)
            for kind, sound in sounds_of(part, unseen):
                found = synchrony_of(lips, known, sound, 0.0, sync)
                if found is not None:
                    value = found.correlation + found.margin
                    counts[kind][length_s].append(not all(each.holds(value) for each in limits))
            shown = np.arange(len(known)) * STEP_S % HIDDEN_S[1] >= HIDDEN_S[0]
            found = synchrony_of(lips, known & shown, part.sound, 0.0, sync)
            counts["lips hidden for 0.4 s of 1.2 s"][length_s].append(found is None)
    for kind, by_length in counts.items():
        doubted = (by_length[length_s] for length_s in SYNC_LENGTHS_S)
        cells = [share_of(sum(each), len(each)) for each in doubted]
        yield f"| {kind} | {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("talkers", type=Path)
    parser.add_argument("--blind", action="store_true", help="people whom no limit has seen")
    parser.add_argument("--table", type=Path, help="the document with a place for it")
    options = parser.parse_args(arguments)
    models = Models()
    all_seen: list[Seen] = []
    for each in read_talkers(blind=options.blind):
        try:
            all_seen.append(seen_of(each, options.talkers, models))
        except FileMissing as error:
            print(f"left out: {error}", file=sys.stderr)
    eyes = partial(photograph_table, "eyes_blink", "blink")
    head = partial(photograph_table, "head_moves", "head")
    depth = partial(photograph_table, "face_has_depth", "parallax")
    tables: Mapping[str, Callable[[Sequence[Seen], Profile], Iterator[str]]] = {
        "forged-footage": table,
        "eyes-blink": eyes,
        "head-moves": head,
        "face-has-depth": depth,
        "lip-sync": sync_table,
    }
    for name, made in tables.items():
        lines = list(made(all_seen, load_profile()))
        print(*lines, sep="\n")
        if options.table:
            replace_marked(options.table, f"{name}{'-blind' * options.blind}", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
