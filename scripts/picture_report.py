"""Make docs/report.png: the report page of a run over the sample people, as Chromium shows it.

One more person has a portrait that shows no one, and the last person is unfolded. Pillow leaves out
most colours, since a page has few.

uv run scripts/picture_report.py [--chromium PROGRAM]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

import palprep

CHECKOUT = Path(__file__).resolve().parents[1]
PICTURE = CHECKOUT / "docs/report.png"
WIDTH, HEIGHT = 1280, 1356
"""Of the window, in CSS pixels: the upper part of the page."""
COLOURS = 128


def _unfolded(page: Path) -> Path:
    """The same page with the last person unfolded, whose files are all fit."""
    row = '<details>\n    <summary class="who row"'
    before, fold, after = page.read_text("utf-8").rpartition(row)
    if not fold:
        raise SystemExit("the page has no one to unfold")
    path = page.with_name("unfolded.html")
    path.write_text(before + fold.replace("<details>", "<details open>") + after, "utf-8")
    return path


def main() -> int:
    """Run, then show the page. Exit status 2 without a Chromium."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chromium", default="chromium", help="the program to run")
    program = shutil.which(parser.parse_args().chromium)
    if program is None:
        print("No Chromium: install it, or name one with --chromium", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        people = Path(folder) / "people"
        shutil.copytree(CHECKOUT / "sample_media/people", people)
        (people / "tom").mkdir()
        shutil.copy(
            CHECKOUT / "sample_media/broken/landscape-without-a-face.jpg",
            people / "tom" / "portrait.jpg",
        )
        palprep.run(people, into=out)
        # A profile of its own, no sandbox (root has none), nothing from the network.
        options = (
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--hide-scrollbars", f"--user-data-dir={folder}/profile",
            f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={PICTURE}",
        )  # fmt: skip
        page = _unfolded(out / "report.html").as_uri()
        subprocess.run([program, *options, page], check=True, stderr=subprocess.DEVNULL)
        few = Image.open(PICTURE).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(PICTURE, optimize=True)
    print(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
