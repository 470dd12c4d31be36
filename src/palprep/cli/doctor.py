"""palprep doctor: the packages, extras, binaries and models that are there, how to add others, and
how the processes that open media are isolated."""

from __future__ import annotations

import itertools
import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING, Literal

import typer

from palprep import consent, media, networks, preflight, workers
from palprep._version import __version__
from palprep.cli.exits import ExitCode
from palprep.cli.options import AsJson, Verbose
from palprep.cli.output import print_json, show
from palprep.errors import ToolError, ToolFailed, ToolMissing
from palprep.vocabulary import install_advice

if TYPE_CHECKING:
    from rich.console import RenderableType

State = Literal["ok", "missing", "broken"]

_EXTRA = re.compile(r"extra\s*==\s*['\"]([\w-]+)['\"]")

EXAMPLES = ("palprep doctor", "palprep doctor --verbose")


def doctor(as_json: AsJson = False, verbose: Verbose = False) -> None:
    """--verbose lists everything, with versions, licences and hashes. The exit code is 1 when
    something is missing or broken that palprep cannot work without."""
    findings = tuple(examine())
    sound = all(finding.state == "ok" for finding in findings if finding.required)
    if as_json:
        print_json({"findings": [asdict(finding) for finding in findings]})
    else:
        show(_table(findings if verbose else tuple(_short(findings))))
        show(_SOUND if sound else _WANTING)
    raise typer.Exit(ExitCode.OK if sound else ExitCode.FAILED)


_SOUND = "Everything that palprep needs is there.\nNext: palprep check PATH"
_WANTING = (
    "Something is missing or broken that palprep cannot work without.\n"
    "Next: run the commands above, then this one again."
)


def _short(findings: tuple[Finding, ...]) -> Iterator[Finding]:
    """One finding for everything of a kind that is well, and all others."""
    for part, found in itertools.groupby(findings, key=lambda finding: finding.part):
        group = tuple(found)
        well = [finding for finding in group if finding.state == "ok"]
        if len(well) > 1:
            # The packages are too many to be named.
            named = "" if part == "package" else ", ".join(finding.name for finding in well)
            yield replace(well[0], name=f"{len(well)} {part}s", detail=named)
        else:
            yield from well
        yield from (finding for finding in group if finding.state != "ok")


def _table(findings: tuple[Finding, ...]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    styles = {"ok": "green", "missing": "yellow", "broken": "bold red"}
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    part = ""
    for finding in findings:
        detail = Text(finding.detail, overflow="fold")
        if finding.fix and finding.fix not in finding.detail:
            detail.append(f"\n{finding.fix}", "bold")
        table.add_row(
            Text("" if finding.part == part else finding.part, "dim"),
            Text(finding.name),
            Text(finding.state, styles[finding.state]),
            detail,
        )
        part = finding.part
    return table


@dataclass(frozen=True)
class Finding:
    """One part of the installation, or one protection of workers. ``fix`` says what to do when it
    is missing or broken."""

    part: Literal["palprep", "package", "extra", "binary", "model", "protection"]
    name: str
    state: State
    required: bool
    detail: str
    fix: str | None = None


def examine() -> Iterator[Finding]:
    """Everything that palprep depends on. ffmpeg is run, models are hashed and loaded."""
    running = f"{__version__} on Python {platform.python_version()}, {platform.platform()}"
    yield Finding("palprep", "palprep", "ok", required=True, detail=running)
    yield from _packages(metadata.requires("palprep") or ())
    again = "pip install --force-reinstall imageio-ffmpeg"
    yield _tried("binary", "ffmpeg", _ffmpeg, fix=again)
    yield from _models()
    words = "{0.name}, sha256 {0.sha256}"
    yield _tried("model", "consent", lambda: words.format(consent.Whisper.load()))
    yield from _isolation()


def _ffmpeg() -> str:
    """Its version and place, where it runs as a fix runs it."""
    with preflight.media_workers(1) as engine:
        return f"{engine.run(media.ffmpeg_version)} at {media.ffmpeg_binary()}"


def _packages(requirements: Iterable[str]) -> Iterator[Finding]:
    for requirement in requirements:
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        extra = _EXTRA.search(requirement)
        needless = "python_version" in requirement and sys.version_info < (3, 13)
        if name == "palprep" or needless or (extra and extra[1] == "all"):
            continue
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            version = None
        yield Finding(
            part="extra" if extra else "package",
            name=f"{name} ({extra[1]})" if extra else name,
            state="ok" if version else "missing",
            required=extra is None,
            detail=version or "not installed",
            fix=None if version else install_advice(extra[1] if extra else None),
        )


def _models() -> Iterator[Finding]:
    for home in ("palprep.vision", "palprep.speech", "palprep.consent"):
        for name, entry in networks.read_manifest(home).items():
            detail = f"{entry.what} ({entry.licence}), sha256 {entry.sha256}"
            state: State = "ok"
            fix = None
            if entry.extra is not None and not entry.locate().is_file():
                state, detail, fix = "missing", "not installed", install_advice(entry.extra)
            elif wrong := entry.problem():
                state, detail, fix = "broken", wrong, entry.advice
            yield Finding("model", name, state, entry.extra is None, detail, fix)


def _isolation() -> Iterator[Finding]:
    try:
        found = workers.probe_isolation()
    except ToolError as error:
        yield Finding("protection", "workers", "broken", required=True, detail=error.message)
        return
    for each in found:
        state: State = "ok" if each.held else "missing"
        does = f"the processes that open media {'' if each.held else 'do not '}{each.words}"
        yield Finding("protection", each.name, state, required=False, detail=does, fix=each.lacks)


def _tried(
    part: Literal["binary", "model"], name: str, use: Callable[[], str], fix: str | None = None
) -> Finding:
    """The finding about a part of which ``use()`` returns the detail, or raises ToolError."""
    state: State = "ok"
    try:
        detail, fix = use(), None
    except ToolError as error:
        state, detail = "missing" if isinstance(error, ToolMissing) else "broken", error.message
        fix = fix or install_advice(again=isinstance(error, ToolFailed))
    return Finding(part=part, name=name, state=state, required=True, detail=detail, fix=fix)
