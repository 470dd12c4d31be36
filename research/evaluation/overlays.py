"""How often text that was laid over a video is seen, and text where there is none.

    python -m research.evaluation.overlays FOOTAGE [--font FILE] [--drawn-every N]

FOOTAGE holds what material/overlays.csv names, as owner/name/path: what an eye saw there, before
anything was measured, says whether text was laid over the picture. Five frames of the first minute
are looked at, as a check does. Of every N-th video without text, text is drawn over them, too:
by kind, by height of the line, and by script. FILE is a font with Chinese letters; without it they
are left out.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from palprep.media import probe_video
from palprep.media.images import sample_frames
from palprep.media.sources import Source
from palprep.vision import CLOSE_LOOKS, Models, Pixels
from palprep.vision.overlay import find_overlay
from research.material.sources_and_labels import MATERIAL

LONGEST_S = 60.0
SIDE = 960
HEIGHTS = (0.02, 0.03, 0.045, 0.06)
PLAIN = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
SAID = {
    "Latin": ("I have worked here for", "nine years", "and every day is new", "to me", "so far"),
    "Cyrillic": ("Я работаю здесь уже", "девять лет", "и каждый день новый", "для меня", "пока"),
    "Arabic": ("أعمل هنا منذ تسع سنوات", "كل يوم", "يوم جديد بالنسبة لي", "حتى الآن", "شكرا"),
    "Chinese": ("我在这里工作了九年", "每一天", "对我来说都是新的一天", "到现在", "谢谢大家"),
}
KINDS = ("subtitles", "subtitles in a box", "name plate", "station's mark", "ticker")


def frames_of(path: Path) -> list[Pixels]:
    """The frames that a check would look at closely."""
    source = Source.of(path)
    step_s = max(0.25, min(probe_video(source).duration_s, LONGEST_S) / 120)
    frames = sample_frames(source, per_second=1 / step_s, max_side=SIDE, most_s=LONGEST_S)
    every = [frame.rgb for frame in frames]
    return [every[int((index + 0.5) * len(every) / CLOSE_LOOKS)] for index in range(CLOSE_LOOKS)]


def drawn(frames: Sequence[Pixels], kind: str, script: str, high: float, font: str) -> list[Pixels]:
    """Frames with text over them whose letters are ``high``, a share of the shorter side."""
    shown = []
    for index, rgb in enumerate(frames):
        picture = Image.fromarray(rgb)
        draw, (width, height) = ImageDraw.Draw(picture), picture.size
        size = max(4, round(high * min(width, height) * 1.3))
        letters = ImageFont.truetype(font, size)
        said = SAID[script]
        place, anchor, text, box = (width / 2, 0.93 * height), "ms", said[index], False
        if kind == "name plate":
            place, anchor, text, box = (0.06 * width, 0.88 * height), "ls", said[0], True
        elif kind == "station's mark":
            place, anchor, text = (0.95 * width, 0.09 * height), "rs", said[1].upper()
        elif kind == "ticker":
            place, anchor, box = (-0.1 * index * width, 0.97 * height), "ls", True
            text = " + ".join(said * 3)
        elif kind == "subtitles in a box":
            box = True
        if box:
            left, top, right, bottom = draw.textbbox(place, text, letters, anchor=anchor)
            draw.rectangle((left - 4, top - 4, right + 4, bottom + 4), fill=(16, 16, 40))
        edge = 0 if box else max(1, size // 14)
        ink, dark = (250, 250, 250), (0, 0, 0)
        draw.text(place, text, ink, letters, anchor, stroke_width=edge, stroke_fill=dark)
        shown.append(np.asarray(picture))
    return shown


def rows_of(seen: Counter[tuple[str, str]], asked: Counter[tuple[str, str]]) -> Iterator[str]:
    for key, count in asked.items():
        yield f"| {key[0]} | {key[1]} | {seen[key]} of {count} |"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("footage", type=Path)
    parser.add_argument("--font", help="a font with Chinese letters")
    parser.add_argument("--drawn-every", type=int, default=4)
    options = parser.parse_args(arguments)
    with (MATERIAL / "overlays.csv").open(newline="", encoding="utf-8") as stream:
        listed = list(csv.DictReader(stream))
    models = Models()
    seen: Counter[tuple[str, str]] = Counter()
    asked: Counter[tuple[str, str]] = Counter()
    clean = 0
    for row in listed:
        frames = frames_of(options.footage / row["source"] / row["path"])
        cases = {("as it is", f"text: {row['text']}"): frames}
        clean += row["text"] == "no"
        if row["text"] == "no" and clean % options.drawn_every == 0:
            for high in HEIGHTS:
                told = f"letters of {high:.1%}"
                for kind in KINDS:
                    cases[kind, told] = drawn(frames, kind, "Latin", high, PLAIN)
            for script in SAID:
                font = options.font if script == "Chinese" else PLAIN
                if font:
                    cases["subtitles", script] = drawn(frames, "subtitles", script, 0.045, font)
        for key, shown in cases.items():
            found = find_overlay(shown, models.text).with_text > 0
            asked[key] += 1
            seen[key] += found
            if key[0] == "as it is" and found != (row["text"] == "yes"):
                print(f"{row['source']} {row['path']}: {key[1]}, found: {found}")
    print("\n".join(["| Text | of it | seen |", "|---|---|---|", *rows_of(seen, asked)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
