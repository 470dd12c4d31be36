"""Make docs/report.png: the report page of a run over the sample people, as Chromium shows it.

uv run scripts/picture_report.py [--chromium PROGRAM]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import palprep

CHECKOUT = Path(__file__).resolve().parents[1]
PICTURE = CHECKOUT / "docs/report.png"
WIDTH, HEIGHT = 1280, 1400
"""Of the window, in CSS pixels: the upper part of the page."""


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
        palprep.run(CHECKOUT / "sample_media/people", into=out)
        # A profile of its own, no sandbox (root has none), nothing from the network.
        options = (
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--hide-scrollbars", f"--user-data-dir={folder}/profile",
            f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={PICTURE}",
        )  # fmt: skip
        page = (out / "report.html").as_uri()
        subprocess.run([program, *options, page], check=True, stderr=subprocess.DEVNULL)
    print(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
