"""The drawings of the documentation, which scripts/make_docs.py writes.

docs/architecture.svg has the layers of the import contract, as pyproject.toml states them.
docs/cluster.svg, docs/callbacks.svg, docs/publishing.svg, docs/in-doubt.svg, docs/manifest.svg and
docs/operations.svg show who tells whom what, docs/growth.svg what benchmarks/growth.py has kept.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[1]


class Flow(NamedTuple):
    """Who takes part, and what goes from whom to whom, by the numbers of the parts. A step from a
    part to itself is work of its own; a text that begins with ``✗`` does not arrive."""

    about: str
    parts: Sequence[tuple[str, str]]
    steps: Sequence[tuple[int, int, str]]


FLOWS: Mapping[str, Flow] = {
    "cluster": Flow(
        "A run, a bucket and a worker of a cluster: media goes by the bucket, and only the run asks"
        " the service",
        (
            ("palprep run", "journal and page"),
            ("bucket", "by SHA-256"),
            ("worker", "of Dask"),
            ("service", "voices, replicas"),
        ),
        (
            (0, 1, "the source"),
            (0, 2, "a task, named by its file"),
            (1, 2, "the source"),
            (2, 2, "checks and repairs it in a process with limits"),
            (2, 1, "the prepared file"),
            (2, 0, "report and pictures"),
            (0, 3, "a signed URL of the prepared file"),
            (1, 3, "the prepared file"),
        ),
    ),
    "callbacks": Flow(
        "A training of hours: the service tells its end to a listener, and the journal keeps it",
        (
            ("palprep run", "--no-wait"),
            ("service", "trains"),
            ("palprep listen", "behind your proxy"),
            ("journal", "in the output folder"),
            ("palprep watch", "waits"),
        ),
        (
            (0, 3, "the intent, with the address to call"),
            (0, 1, "create"),
            (1, 0, "the id"),
            (0, 3, "the id; the run ends with exit code 5"),
            (1, 1, "hours"),
            (1, 2, "POST: it has ended"),
            (2, 3, "one entry"),
            (3, 4, "the end"),
        ),
    ),
    "publishing": Flow(
        "A prepared file goes into your bucket, and the service fetches it by a signed URL",
        (("palprep", "signs"), ("your bucket", "not public"), ("service", "fetches")),
        (
            (0, 0, "a prepared file"),
            (0, 1, "PUT, under its SHA-256"),
            (0, 2, "create, with a URL that ends in three days"),
            (2, 1, "GET"),
            (1, 2, "the file"),
        ),
    ),
    "manifest": Flow(
        "Rows of a database become a manifest, files come from where they lie, results go back",
        (("your database", ""), ("palprep run", ""), ("where files lie", "disk, bucket, https")),
        (
            (0, 1, "a manifest: a row for each person"),
            (1, 1, "all rows are checked, before anything starts"),
            (2, 1, "a person's files, when it is their turn"),
            (1, 0, "results.jsonl or results.csv, by the names of the rows"),
        ),
    ),
    "operations": Flow(
        "A timer starts the run; its exit code says whether people are asked, or waited for",
        (("timer", "cron, systemd, a job"), ("palprep run", ""), ("operator", ""), ("people", "")),
        (
            (0, 1, "the same command, each night"),
            (1, 0, "exit code 0: rest, 5: palprep watch"),
            (1, 2, "exit code 4: palprep review"),
            (1, 2, "exit code 1: palprep ask"),
            (2, 3, "a message: what to redo, and how"),
            (3, 1, "new files in their folders"),
        ),
    ),
    "in-doubt": Flow(
        "An answer that does not come: the creation is in doubt until a callback or you resolve it",
        (("palprep run", "asks once"), ("journal", "on the disk"), ("service", ""), ("you", "")),
        (
            (0, 1, "the intent"),
            (0, 2, "create"),
            (2, 0, "✗ the connection ended"),
            (0, 1, "in doubt: it is not sent again"),
            (3, 2, "is it there?"),
            (3, 1, "palprep status --found KEY=ID, or --retry KEY"),
            (1, 0, "the next run goes on"),
        ),
    ),
}

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
    "networks": "model files, one runner",
    "storage": "buckets of the clouds",
    "values": "frozen records",
    "errors": "the tree of errors",
    "vocabulary": "roles, kinds, outcomes",
    "escaping": "strangers' text, harmless",
    "system": "locks, signals, groups",
    "testing": "fixtures for pytest",
}
"""What each package holds, in a few words."""

GROWTH: Mapping[str, tuple[str, str]] = {
    "pictures": ("Checking a JPEG", "megapixels"),
    "videos": ("Checking a video, 1080p30", "seconds of video"),
    "people": ("A run, to trained voices", "people"),
}
"""What grows, by its name in the points that benchmarks/growth.py keeps: a title, and a unit."""

POINTS = CHECKOUT / "benchmarks/results/growth_points.json"
TALL = 190
"""Pixels of a curve's height."""

WIDTH, MARGIN, GAP, LINE, STEP = 960, 16, 10, 52, 42
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


def drawings() -> Iterator[tuple[Path, str]]:
    """Every drawing and its SVG."""
    lines = layers()
    boxes = "\n".join(box for row, names in enumerate(lines) for box in _line(names, row))
    about = "The packages of palprep in layers, top first; imports go downwards"
    height = 2 * MARGIN + len(lines) * (LINE + GAP) - GAP
    yield CHECKOUT / "docs/architecture.svg", _svg(about, height, boxes)
    for name, flow in FLOWS.items():
        height = 2 * MARGIN + LINE + STEP * len(flow.steps) + GAP
        yield CHECKOUT / f"docs/{name}.svg", _svg(flow.about, height, "\n".join(_sequence(flow)))
    points = json.loads(POINTS.read_text(encoding="utf-8"))
    drawn = "\n".join(line for at, what in enumerate(GROWTH) for line in _curve(at, what, points))
    about = "How cost grows with the size of a picture, the length of a video, the number of people"
    yield CHECKOUT / "docs/growth.svg", _svg(about, TALL + 2 * LINE, drawn)


def _svg(about: str, height: int, drawn: str) -> str:
    """It follows the reader's dark or light theme."""
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"
 aria-label="{escape(about)}">
<style>
text {{ font-family: system-ui, sans-serif; text-anchor: middle; fill: #1b2733 }}
.name {{ font-size: 15px; font-weight: 600 }}
.holds {{ font-size: 11.5px }}
.step {{ font-size: 13px }}
rect {{ fill: #e8eef5; stroke: #8fa5bd }}
rect.service {{ fill: #f6ecdd; stroke: #c9a66b }}
path {{ fill: none; stroke: #46617d; stroke-width: 1.4 }}
path.life {{ stroke: #8fa5bd; stroke-dasharray: 3 4 }}
path.lost {{ stroke: #b3261e }}
path.ours {{ stroke-width: 2.2 }}
path.bare {{ stroke: #c08a2d; stroke-width: 2.2; stroke-dasharray: 6 4 }}
circle {{ fill: #46617d }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e6edf3 }}
rect {{ fill: #22303f; stroke: #5b7690 }}
rect.service {{ fill: #3a2f1d; stroke: #a3854d }}
path {{ stroke: #9db4cc }}
path.life {{ stroke: #5b7690 }}
path.lost {{ stroke: #f2a29d }}
path.bare {{ stroke: #e0b265 }}
circle {{ fill: #9db4cc }}
}}
</style>
{drawn}
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


def _sequence(flow: Flow) -> Iterator[str]:
    """The parts as boxes with a line below each, and the steps as arrows from line to line."""
    column = (WIDTH - 2 * MARGIN) / len(flow.parts)
    at = [MARGIN + column * (number + 0.5) for number in range(len(flow.parts))]
    bottom = MARGIN + LINE + STEP * len(flow.steps) + GAP
    for (name, holds), x in zip(flow.parts, at, strict=True):
        kind = ' class="service"' if name == "service" else ""
        yield f'<path class="life" d="M{x:.1f} {MARGIN + LINE}V{bottom}"/>'
        yield f'<rect{kind} x="{x - 80:.1f}" y="{MARGIN}" width="160" height="{LINE}" rx="6"/>'
        lower = 22 if holds else 31
        yield f'<text class="name" x="{x:.1f}" y="{MARGIN + lower}">{escape(name)}</text>'
        if holds:
            yield f'<text class="holds" x="{x:.1f}" y="{MARGIN + 40}">{escape(holds)}</text>'
    for number, (start, end, told) in enumerate(flow.steps, 1):
        y, x = MARGIN + LINE + STEP * number - 8, (at[start] + at[end]) / 2
        yield f'<text class="step" x="{x:.1f}" y="{y - 7}">{escape(told)}</text>'
        if start == end:
            yield f'<rect x="{x - 6:.1f}" y="{y - 2}" width="12" height="16" rx="3"/>'
            continue
        ahead, lost = 1 if end > start else -1, told.startswith("✗")
        kind, tip = (' class="lost"', x + ahead * 60) if lost else ("", at[end] - ahead * 2)
        head = f"m{-8 * ahead} -5l{8 * ahead} 5l{-8 * ahead} 5"
        yield f'<path{kind} d="M{at[start]:.1f} {y}H{tip:.1f}{head}"/>'


def _curve(at: int, what: str, points: Mapping[str, Sequence[Sequence[float]]]) -> Iterator[str]:
    """One panel: seconds of processor over an amount; with a dashed line for the bare decode."""
    (title, unit), rows = GROWTH[what], points[what]
    wide = WIDTH / len(GROWTH)
    left, right, bottom = at * wide + 46, (at + 1) * wide - 24, LINE + TALL
    most_x, most_y = rows[-1][0], 1.05 * max(max(row[1:]) for row in rows)

    def x(amount: float) -> float:
        return left + (right - left) * amount / most_x

    def y(seconds: float) -> float:
        return bottom - TALL * seconds / most_y

    yield f'<text class="name" x="{(left + right) / 2:.1f}" y="{LINE - 22}">{escape(title)}</text>'
    yield f'<path class="life" d="M{left:.1f} {LINE}V{bottom}H{right:.1f}"/>'
    for column, kind in ((1, "ours"), (2, "bare")):
        if any(row[column] for row in rows):
            line = "L".join(f"{x(row[0]):.1f} {y(row[column]):.1f}" for row in rows)
            yield f'<path class="{kind}" d="M{line}"/>'
    for amount, ours, _ in rows:
        yield f'<circle cx="{x(amount):.1f}" cy="{y(ours):.1f}" r="3"/>'
    amount, ours, bare = rows[-1]
    middle = (left + right) / 2
    yield f'<text class="holds" x="{x(amount):.1f}" y="{bottom + 18}">{amount:.0f}</text>'
    yield f'<text class="holds" x="{middle:.1f}" y="{bottom + 18}">{escape(unit)}</text>'
    told = f"palprep {ours:.3g} s of processor" + (f", bare decode {bare:.3g} s" if bare else "")
    yield f'<text class="holds" x="{middle:.1f}" y="{bottom + 38}">{told}</text>'
