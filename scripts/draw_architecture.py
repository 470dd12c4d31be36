"""Draw docs/architecture.svg: the layers of the import contract, as pyproject.toml states them.

uv run scripts/draw_architecture.py
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
PICTURE = CHECKOUT / "docs/architecture.svg"

HOLDS: Mapping[str, str] = {
    "cli": "arguments, printing, exit codes",
    "record": "pages on loopback, for people",
    "batch": "a folder of people, from start to end",
    "views": "pages, tables, pictures",
    "pipelines": "a voice, a replica",
    "journal": "what was asked and answered",
    "dossier": "evidence of consent",
    "preflight": "check, prepare",
    "client": "the service, asked",
    "sandbox": "the service, served",
    "publish": "a URL for a file",
    "callbacks": "what the service sends",
    "serving": "a socket and its thread",
    "workers": "processes with limits",
    "fixes": "a plan, applied",
    "rules": "judgement: limits, reports, plans",
    "facts": "all that was measured of a file",
    "consent": "the statement, heard",
    "vision": "faces and people",
    "speech": "voices",
    "api": "the service's contract",
    "media": "formats, frames, samples",
    "storage": "buckets of the clouds",
    "values": "frozen records",
    "errors": "the tree of errors",
    "vocabulary": "roles, kinds, outcomes",
    "escaping": "strangers' text, harmless",
    "system": "locks, signals, groups",
    "testing": "fixtures for pytest",
}
"""What each package holds, in a few words."""

WIDTH, MARGIN, GAP, LINE = 960, 16, 10, 52
SERVICE = frozenset({"client", "sandbox", "publish", "callbacks", "serving", "api"})
"""The packages that know HTTP or the service. The others know media, or neither."""


def layers() -> list[list[str]]:
    """The packages line by line, top first."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    [flow] = [each for each in contracts if each["type"] == "layers"]
    return [
        [name.strip() for name in line.split("|")]
        for line in flow["layers"]
        if line != "__main__"  # A module that calls cli, no package.
    ]


def drawing(lines: Sequence[Sequence[str]]) -> str:
    """The SVG. It follows the reader's dark or light theme."""
    height = 2 * MARGIN + len(lines) * (LINE + GAP) - GAP
    boxes = "\n".join(box for row, names in enumerate(lines) for box in _line(names, row))
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"
 aria-label="The packages of palprep in layers, top first; imports go downwards">
<style>
text {{ font-family: system-ui, sans-serif; text-anchor: middle; fill: #1b2733 }}
.name {{ font-size: 15px; font-weight: 600 }}
.holds {{ font-size: 11.5px }}
rect {{ fill: #e8eef5; stroke: #8fa5bd }}
rect.service {{ fill: #f6ecdd; stroke: #c9a66b }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e6edf3 }}
rect {{ fill: #22303f; stroke: #5b7690 }}
rect.service {{ fill: #3a2f1d; stroke: #a3854d }}
}}
</style>
{boxes}
</svg>
"""


def _line(names: Sequence[str], row: int) -> Iterator[str]:
    width = (WIDTH - 2 * MARGIN - (len(names) - 1) * GAP) / len(names)
    top = MARGIN + row * (LINE + GAP)
    for column, name in enumerate(names):
        left = MARGIN + column * (width + GAP)
        middle = left + width / 2
        kind = ' class="service"' if name in SERVICE else ""
        yield (
            f'<rect{kind} x="{left:.1f}" y="{top}" width="{width:.1f}" height="{LINE}" rx="6"/>\n'
            f'<text class="name" x="{middle:.1f}" y="{top + 22}">{escape(name)}</text>\n'
            f'<text class="holds" x="{middle:.1f}" y="{top + 40}">{escape(HOLDS[name])}</text>'
        )


if __name__ == "__main__":
    PICTURE.write_text(drawing(layers()), encoding="utf-8")
