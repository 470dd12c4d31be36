"""Write into the guides what their blocks print: each block after ``<!-- output -->``.

    uv run scripts/show_outputs.py docs/guides/portrait.md

The page runs as its test runs it: from top to bottom, in a folder of the sample people, with a
sandbox as the service. Afterwards the test compares what is printed with what stands there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Fill the pages that were named."""
    pages = [str(Path(page).resolve().relative_to(CHECKOUT)) for page in sys.argv[1:]]
    tests = [f"tests/docs/test_blocks.py::test_a_page_runs[{page}]" for page in pages]
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-m", "", *tests]
    environment = {**os.environ, "WRITE_OUTPUTS": "1"}
    sys.exit(subprocess.run(command, cwd=CHECKOUT, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
