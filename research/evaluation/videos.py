"""How often the checks of a training video err on genuine footage, and on whom.

    python -m research.evaluation.videos [--measure FOOTAGE] [--half HALF] [--table FILE] [--list]
    python -m research.evaluation.videos --worse FOOTAGE [--table FILE]

``material/videos.csv`` names videos of public repositories and what an eye saw in them before any
check did: see :class:`Video`. ``material/videos-measured.csv`` holds what the checks measured, so
that limits are judged again without the footage; a test holds the document's tables to it. With
--measure the named half is measured anew: FOOTAGE holds the files as owner/name/path, and keeps the
stretches and cuttings that are made of some. With --worse the fit ones of the first half are made
worse by known amounts, of which the eye found few.

What is left out: checks of the file and its length, which are right by definition; the shares of
speaking and listening, which no footage of others has; those of the statement; and those of the
voice, since nobody has listened.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from palprep.media.ffmpeg import ffmpeg_binary
from palprep.preflight import check
from palprep.rules import Profile, load_profile
from palprep.values import Outcome, Role
from research.evaluation.measured import measures_of, outcome_of
from research.evaluation.portraits import PEOPLE, share_of
from research.marked import replace_marked
from research.material.sources_and_labels import MATERIAL

LABELS, MEASURED = MATERIAL / "videos.csv", MATERIAL / "videos-measured.csv"

HALVES = ("first", "second")
"""All sources of one owner are in one half, as in the broad set of portraits. The second was
measured when nothing was to be changed any more."""

CHECKS: Mapping[str, Sequence[str]] = {
    "appears_under_18": ("child", "young"),
    "eyes_blink": (),
    "face_brightness": ("dark", "bright"),
    "face_seen_throughout": ("away", "hand", "moves"),
    "face_size": ("small",),
    "face_substantially_obscured": ("hand", "sunglasses", "covered", "close"),
    "gaze_at_lens": ("away", "sunglasses"),
    "head_fully_in_frame": ("close",),
    "head_level": ("tilt",),
    "head_towards_lens": ("away", "tilt", "hand", "moves"),
    "human_like_subject": (),
    "lip_sync": (),
    "lips_not_repeated": (),
    "mouth_moves": (),
    "no_burned_in_text": ("text",),
    "no_nudity": ("naked",),
    "one_person_throughout": (),
    "same_person_throughout": (),
    "video_black": (),
    "video_cuts": (),
    "video_exposure_steps": (),
    "video_flicker": (),
    "video_freezes": (),
    "video_steadiness": ("moves",),
}
"""The checks that count, with the kinds that each may rightly warn of, besides :data:`OTHER`."""

OTHER = frozenset(
    ("animal", "child", "cuts", "drawn", "framed", "generated", "grey", "people", "photo", "unseen")
)
"""Kinds of which any check may say anything: they are no footage of one person in one take."""

BESIDE = frozenset(("text", "small"))
"""What the one check of it says, and no other one may: a video may have it and be fit otherwise."""

NAMED: Mapping[str, Sequence[str]] = {
    "away": ("head_towards_lens", "gaze_at_lens"),
    "child": ("appears_under_18",),
    "covered": ("face_substantially_obscured", "face_seen_throughout"),
    "cuts": ("video_cuts",),
    "dark": ("face_brightness",),
    "drawn": ("human_like_subject", "face_seen_throughout"),
    "hand": ("face_substantially_obscured", "face_seen_throughout"),
    "people": ("one_person_throughout", "same_person_throughout"),
    "photo": ("mouth_moves", "lips_not_repeated", "video_freezes"),
    "small": ("face_size",),
    "sunglasses": ("face_substantially_obscured",),
    "text": ("no_burned_in_text",),
    "tilt": ("head_level",),
    "unseen": ("face_seen_throughout",),
}
"""The checks that should name a kind."""


LIT = "lutrgb=r=clip(val*{0}\\,0\\,255):g=clip(val*{0}\\,0\\,255):b=clip(val*{0}\\,0\\,255)"

WORSE: Mapping[str, tuple[str, str]] = {
    "3 stops darker": ("face_brightness", LIT.format(0.39)),
    "4 stops darker": ("face_brightness", LIT.format(0.28)),
    "2 stops brighter": ("face_brightness", LIT.format(1.88)),
    "leaning by 10 degrees more": ("head_level", "rotate=PI/18"),
    "leaning by 15 degrees more": ("head_level", "rotate=PI/12"),
}
"""What is made of fit videos, the check that should say so, and ffmpeg's filter. A stop halves the
light: in coded values, by the power of 1/2.2."""

MOST_WORSE, WORSE_S = 3, 6.0
"""How many of one source are made worse, and how many seconds of each."""

LOUD = (Outcome.FAIL, Outcome.WARN)


class Video(NamedTuple):
    """A row of videos.csv."""

    source: str
    commit: str
    path: str
    start_s: str
    """With ``end_s`` the stretch that is meant, empty for the whole file."""
    end_s: str
    crop: str
    """Left, top, width and height of what is meant, in pixels; empty for the whole picture."""
    kinds: str
    """What an eye found wrong, between semicolons, with a question mark where it was in doubt."""
    people: str
    """What the person looks like, to the eye, in the words of the broad set of portraits."""
    looked: str
    """Checks that had something to say of a video fit for them, and whether a look at those frames
    found a real doubt (``video_cuts+``) or none (``video_cuts-``)."""
    licence: str

    @property
    def half(self) -> str:
        owner = self.source.partition("/")[0].lower()
        return HALVES[int(sha256(owner.encode()).hexdigest()[-1], 16) % 2]

    @property
    def key(self) -> str:
        return f"{self.source}|{self.path}|{self.start_s}|{self.crop}"

    @property
    def seen(self) -> frozenset[str]:
        """The kinds, doubts included."""
        return frozenset(kind.rstrip("?") for kind in self.kinds.split(";") if kind)

    @property
    def sure(self) -> frozenset[str]:
        return frozenset(kind for kind in self.kinds.split(";") if kind and not kind.endswith("?"))

    def fit_for(self, check_id: str) -> bool:
        """Whether that check has nothing to say of it."""
        return not self.seen & {*OTHER, *CHECKS[check_id]}

    @property
    def fit(self) -> bool:
        """Whether no check has, but for what is written over it and how far away the person is."""
        return self.seen <= BESIDE


class Case(NamedTuple):
    """A video and what each check makes of it."""

    video: Video
    outcomes: Mapping[str, Outcome]

    def unexpected(self, *outcomes: Outcome) -> set[str]:
        """The checks with these outcomes that should have nothing to say of it. How large a face is
        may be measured: what is said of that is right."""
        return {
            check_id
            for check_id, outcome in self.outcomes.items()
            if outcome in outcomes and self.video.fit_for(check_id) and check_id != "face_size"
        }


class Footage:
    """Files as owner/name/path, with the parts that are cut out of some."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _parts(self) -> Path:
        parts = self._folder / ".parts"
        parts.mkdir(exist_ok=True)
        return parts

    def file_of(self, video: Video) -> Path:
        """The file, or the part that is meant: its beginning as it is, any other coded anew."""
        file = self._folder / video.source / video.path
        if not video.end_s and not video.crop:
            return file
        part = self._parts / f"{sha256(video.key.encode()).hexdigest()[:16]}.mp4"
        if not part.is_file():
            order = [str(ffmpeg_binary()), "-nostdin", "-loglevel", "error", "-y"]
            if video.end_s:
                lasts = float(video.end_s) - float(video.start_s or 0)
                order += ["-ss", video.start_s or "0", "-t", f"{lasts:.2f}"]
            order += ["-i", str(file)]
            if video.crop:
                left, top, width, height = video.crop.split()
                order += ["-vf", f"crop={width}:{height}:{left}:{top}"]
            whole = not video.start_s and not video.crop
            code = ["-c:v", "libx264", "-crf", "14", "-c:a", "aac", "-b:a", "160k"]
            subprocess.run([*order, *(["-c", "copy"] if whole else code), str(part)], check=True)
        return part


def worse(footage: Footage, folder: Path) -> Iterator[str]:
    """Lines of Markdown: how often a check says what was made of a fit video."""
    plain = [video for video in read_videos("first") if not video.kinds]
    before = Counter[str]()
    some = [
        video
        for video in plain
        if before.update([video.source]) is None and before[video.source] <= MOST_WORSE
    ]
    yield "| Made of fit videos | check | said so | unknown |"
    yield "|---|---|---|---|"
    for name, (check_id, filtered) in WORSE.items():
        made, seen = folder / "worse.mp4", Counter[Outcome]()
        for video in some:
            order = [str(ffmpeg_binary()), "-nostdin", "-loglevel", "error", "-y"]
            order += ["-t", str(WORSE_S), "-i", str(footage.file_of(video)), "-vf", filtered]
            subprocess.run([*order, "-pix_fmt", "yuv420p", "-crf", "16", str(made)], check=True)
            report = check(made, role=Role.TRAINING_VIDEO)
            seen[next(each.outcome for each in report.checks if each.id == check_id)] += 1
        said = share_of(sum(seen[each] for each in LOUD), seen.total())
        yield f"| {name} | `{check_id}` | {said} | {seen[Outcome.UNKNOWN]} |"


def read_videos(half: str) -> list[Video]:
    with LABELS.open(newline="", encoding="utf-8") as stream:
        videos = [Video(**row) for row in csv.DictReader(stream)]
    return [each for each in videos if each.half == half]


def read_measures() -> dict[str, dict[str, str]]:
    """All that are kept, by :attr:`Video.key`."""
    with MEASURED.open(newline="", encoding="utf-8") as stream:
        return {row.pop("key"): row for row in csv.DictReader(stream)}


def write_measures(kept: Mapping[str, Mapping[str, str]]) -> None:
    with MEASURED.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, ["key", *CHECKS], lineterminator="\n")
        writer.writeheader()
        writer.writerows({"key": key, **kept[key]} for key in sorted(kept))


def measure(half: str, footage: Footage) -> None:
    """Write the measures of one half anew."""
    kept = read_measures() if MEASURED.is_file() else {}
    for video in read_videos(half):
        facts = check(footage.file_of(video), role=Role.TRAINING_VIDEO).facts
        if facts is not None:
            kept[video.key] = measures_of(facts, CHECKS)
        write_measures(kept)


def cases_of(half: str, profile: Profile) -> list[Case]:
    """The videos of one half by the limits of today; those that could not be read are left out."""
    kept, limits = read_measures(), profile.for_role(Role.TRAINING_VIDEO)
    return [
        Case(
            video,
            {each: outcome_of(kept[video.key][each], limits[each]) for each in CHECKS},
        )
        for video in read_videos(half)
        if video.key in kept
    ]


def table(half: str, cases: Sequence[Case]) -> list[str]:
    """The figures of one half as lines of Markdown."""
    fit = [case for case in cases if case.video.fit]
    sources = len({case.video.source for case in cases})
    return [
        f"The {half} half: {len(cases)} videos of {sources} sources, {len(fit)} of them fit.",
        "",
        "| Fit videos of | fail | warned of | either wrongly |",
        "|---|---|---|---|",
        *_by_people(fit),
        "",
        "| Check | videos fit for it | fails | warns | said rightly, of all that it said |",
        "|---|---|---|---|---|",
        *_by_check(cases),
        "",
        "| Unfit | videos | named | passed in silence |",
        "|---|---|---|---|",
        *_by_kind(cases),
    ]


def _by_people(fit: Sequence[Case]) -> Iterator[str]:
    for title, alternatives in {"all": [frozenset[str]()], **PEOPLE}.items():
        among = [
            case
            for case in fit
            if any(needed <= {*case.video.people.split(";")} for needed in alternatives)
        ]
        if among:
            failed = [case for case in among if case.unexpected(Outcome.FAIL)]
            warned = [case for case in among if case.unexpected(*LOUD) and case not in failed]
            wrongly = [case for case in among if "-" in case.video.looked]
            shares = (share_of(len(each), len(among)) for each in (failed, warned, wrongly))
            yield f"| {title} | {' | '.join(shares)} |"


def _by_check(cases: Sequence[Case]) -> Iterator[str]:
    for check_id in CHECKS:
        seen = Counter(case.outcomes[check_id] for case in cases if case.video.fit_for(check_id))
        among = seen.total() - seen[Outcome.UNKNOWN]
        if among:
            shares = (share_of(seen[each], among, 1) for each in LOUD)
            yield f"| `{check_id}` | {among} | {' | '.join(shares)} | {_rightly(check_id, cases)} |"


def _rightly(check_id: str, cases: Sequence[Case]) -> str:
    """How many of its fails and warnings name what an eye saw, before or when it looked again."""
    said = [case.video for case in cases if case.outcomes[check_id] in LOUD]
    looked = [video.looked.split(";") for video in said]
    named = {kind for kind, checks in NAMED.items() if check_id in checks}
    kinds = [video.sure & {*CHECKS[check_id], *named} for video in said]
    right = sum(
        bool(seen) or f"{check_id}+" in words for seen, words in zip(kinds, looked, strict=True)
    )
    wrong = sum(
        not seen and f"{check_id}-" in words for seen, words in zip(kinds, looked, strict=True)
    )
    return f"{right} of {right + wrong}" if right + wrong else "-"


def _by_kind(cases: Sequence[Case]) -> Iterator[str]:
    for kind, checks in NAMED.items():
        among = [case for case in cases if kind in case.video.sure]
        if among:
            named = sum(any(case.outcomes[each] in LOUD for each in checks) for case in among)
            silent = sum(not {*LOUD} & {*case.outcomes.values()} for case in among)
            yield f"| {kind} | {len(among)} | {share_of(named, len(among))} | {silent} |"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", type=Path, help="a folder of the videos")
    parser.add_argument("--worse", type=Path, help="the same folder")
    parser.add_argument("--half", action="append", choices=HALVES)
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    parser.add_argument("--list", action="store_true", help="name the fit ones that are not passed")
    options = parser.parse_args(arguments)
    if options.worse:
        with tempfile.TemporaryDirectory() as folder:
            lines = list(worse(Footage(options.worse), Path(folder)))
        print(*lines, sep="\n")
        if options.table:
            replace_marked(options.table, "videos-worse", lines)
        return 0
    for half in options.half or HALVES:
        if options.measure:
            measure(half, Footage(options.measure))
        cases = cases_of(half, load_profile())
        lines = table(half, cases)
        print(*lines, sep="\n")
        for case in cases if options.list else ():
            if case.video.fit and (said := case.unexpected(*LOUD)):
                print(case.video.key, *sorted(said))
        if options.table:
            replace_marked(options.table, f"videos-{half}", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
