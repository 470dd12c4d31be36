"""Write into the guides what their commands print: each block after ``<!-- output -->``.

    uv run scripts/show_outputs.py docs/guides/portrait.md

The commands of a page run from top to bottom in a folder of the sample media, as readers may run
them. The test that runs the pages compares what is printed with what stands there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
SAMPLES = CHECKOUT / "sample_media" / "people"
_BLOCK = re.compile(
    r"^```sh\n(?P<commands>.*?)^```\n|^<!-- output -->\n```text\n(?P<shown>.*?)^```\n",
    re.MULTILINE | re.DOTALL,
)


def printed(commands: str, folder: Path) -> str:
    """What a shell prints, errors too. Raises CalledProcessError where a command fails."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def filled(text: str, folder: Path) -> str:
    """The page with what its commands print in that folder."""
    last = ""

    def fill(block: re.Match[str]) -> str:
        nonlocal last
        if block["commands"] is not None:
            last = printed(block["commands"], folder)
            return block[0]
        return f"<!-- output -->\n```text\n{last}```\n"

    return _BLOCK.sub(fill, text)


def main() -> None:
    """Fill the pages that were named."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for page in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory(prefix="palprep-docs-") as place:
            folder = Path(place)
            for file in (SAMPLES / "jane-carter").iterdir():
                shutil.copy(file, folder)
            shutil.copytree(SAMPLES, folder / "people")
            page.write_text(filled(page.read_text(encoding="utf-8"), folder), encoding="utf-8")


if __name__ == "__main__":
    main()
