"""How cost grows: with the size of a picture, the length of a video, the number of people.

    uv run benchmarks/growth.py [--rounds N] [--only pictures|videos|people] [--json] [--save]

Each point is the least processor time of some rounds. Beside a check stands the bare full decode of
the same file, in the same turns. ``--save`` also keeps the points, from which scripts/make_docs.py
draws docs/growth.svg. What is judged is that nothing grows faster than what it is made of.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from PIL import Image

from faces import CHECKOUT, decode, enlarge
from palprep import preflight
from side_by_side import RESULTS, Benchmark, Figure, Spent, best_of, ffmpeg, options, run
from synthetic_people import Job, short_recordings
from video import person

POINTS = RESULTS / "growth_points.json"
"""By what grows: its amounts, each with the seconds of palprep and of the bare decode."""

SCALES = (0.29, 0.5, 0.71, 1.0, 1.41, 2.0)
"""Of the sides of a picture of 12 megapixels."""

LENGTHS_S = (10, 30, 60, 120, 240)
CROWDS = (10, 30, 100, 300)
GROWTH = 1.2

Points = list[tuple[float, float, float]]


def pictures(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """JPEGs from 1 to 48 megapixels."""
    jpeg, _ = enlarge(arguments.picture, folder)
    points: Points = []
    for scale in SCALES:
        with Image.open(jpeg) as whole:
            size = round(whole.width * scale), round(whole.height * scale)
            scaled = whole.resize(size)
        path = folder / f"{scale}.jpg"
        scaled.save(path, quality=92)
        preflight.check(path)
        ours, bare = best_of(
            arguments.rounds, partial(preflight.check, path), partial(decode, path)
        )
        points.append((size[0] * size[1] / 1e6, ours.cpu, bare.cpu))
    _keep("pictures", points, arguments)
    yield _growth("a check of a JPEG", points, "megapixels")


def videos(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """Training videos of 1080p30 in H.264."""
    preflight.check(person(folder / "warm.mp4", 1, "320:180"), role="training-video")
    points: Points = []
    for length in LENGTHS_S:
        path = person(folder / f"{length}.mp4", length, "1920:1080")
        look = partial(preflight.check, path, role="training-video")
        bare = partial(ffmpeg, "-threads", "1", "-i", str(path), "-f", "null", "-")
        ours, decoded = best_of(arguments.rounds, look, bare)
        points.append((length, ours.cpu, decoded.cpu))
    _keep("videos", points, arguments)
    yield _growth("a check of a video", points, "s")


def people(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """Everything, from nothing to a trained voice, by two workers."""
    points: Points = []
    for count in CROWDS:
        place = folder / f"crowd-{count}"
        short_recordings(place / "people", count)
        with Job.at(place) as job:
            points.append((count, Spent.on(job.make_everybody).cpu, 0.0))
    _keep("people", points, arguments)
    yield _growth("a run", points, "people")


def _growth(what: str, points: Points, unit: str) -> Figure:
    """What the last amount costs above the last but two, against a cost in proportion."""
    (few, least, _), (many, most, _) = points[-3], points[-1]
    detail = f"{least:.3g} s and {most:.3g} s of processor"
    name = f"{what} of {many:.0f} / of {few:.0f} {unit}, for each"
    return Figure(name, (most / many) / (least / few), GROWTH, detail)


def _keep(what: str, points: Sequence[tuple[float, float, float]], how: argparse.Namespace) -> None:
    if how.save:
        kept = json.loads(POINTS.read_text(encoding="utf-8")) if POINTS.exists() else {}
        kept[what] = [[round(number, 4) for number in point] for point in points]
        POINTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


BENCHMARKS: Mapping[str, Benchmark] = {"pictures": pictures, "videos": videos, "people": people}


if __name__ == "__main__":
    parser = options(__doc__, BENCHMARKS)
    sample = CHECKOUT / "sample_media" / "people" / "anna-miller" / "portrait.png"
    parser.add_argument("--picture", type=Path, default=sample)
    parser.add_argument("--rounds", type=int, default=5)
    sys.exit(run(BENCHMARKS, parser.parse_args()))
