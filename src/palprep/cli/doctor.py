"""palprep doctor: what is installed, which models, what is missing and how to get it."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Iterator
from importlib import metadata
from typing import TYPE_CHECKING, Literal

import typer

from palprep._version import __version__
from palprep.cli.exits import ExitCode
from palprep.cli.options import AsJson
from palprep.cli.printing import print_json, show
from palprep.errors import ToolError
from palprep.values import Value

if TYPE_CHECKING:
    from rich.console import RenderableType


class Finding(Value):
    """One part of the installation. ``mend`` is what to do about it, when something is."""

    part: Literal["palprep", "package", "extra", "binary", "model"]
    name: str
    state: Literal["ok", "missing", "broken"]
    required: bool
    detail: str
    mend: str | None = None


def doctor(as_json: AsJson = False) -> None:
    """Show what is installed, which models, and the command that adds what is missing.

    Exit code 1 when something that palprep cannot do without is missing or broken.
    """
    findings = tuple(examine())
    if as_json:
        print_json({"findings": [finding.to_json() for finding in findings]})
    else:
        show(_view(findings))
    sound = all(finding.state == "ok" for finding in findings if finding.required)
    raise typer.Exit(ExitCode.OK if sound else ExitCode.FAILED)


def examine() -> Iterator[Finding]:
    """Everything that palprep depends on, looked at for real: models are hashed and loaded."""
    yield Finding(
        part="palprep",
        name="palprep",
        state="ok",
        required=True,
        detail=f"{__version__} on Python {platform.python_version()}, {platform.platform()}",
    )
    yield from _packages(metadata.requires("palprep") or ())
    yield _ffmpeg()
    yield from _vision_models()
    yield _consent_model()


_EXTRA = re.compile(r"extra\s*==\s*['\"]([\w-]+)['\"]")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def _packages(requirements: Iterable[str]) -> Iterator[Finding]:
    for requirement in requirements:
        name_match = _NAME.match(requirement)
        name = name_match.group() if name_match else requirement
        extra = _EXTRA.search(requirement)
        needless = "python_version" in requirement and platform.python_version_tuple() < ("3", "13")
        if name == "palprep" or needless or (extra and extra[1] == "all"):
            continue
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            version = None
        mend = f'pip install "palprep[{extra[1]}]"' if extra else "pip install palprep"
        yield Finding(
            part="extra" if extra else "package",
            name=f"{name} ({extra[1]})" if extra else name,
            state="ok" if version else "missing",
            required=extra is None,
            detail=version or "not installed",
            mend=None if version else mend,
        )


def _ffmpeg() -> Finding:
    from palprep.media.ffmpeg import binary, version

    try:
        path = binary()
        return Finding(
            part="binary", name="ffmpeg", state="ok", required=True, detail=f"{version()} at {path}"
        )
    except ToolError as error:
        return Finding(
            part="binary",
            name="ffmpeg",
            state="broken",
            required=True,
            detail=error.message,
            mend="pip install --force-reinstall imageio-ffmpeg",
        )


def _vision_models() -> Iterator[Finding]:
    from palprep.vision.models import Models, read_manifest

    manifest = read_manifest()
    for name, wrong in Models().verify().items():
        entry = manifest[name]
        yield Finding(
            part="model",
            name=name,
            state="broken" if wrong else "ok",
            required=entry.extra is None,
            detail=wrong or f"{entry.what} ({entry.licence}), sha256 {entry.sha256}",
            mend=entry.mend if wrong else None,
        )


def _consent_model() -> Finding:
    from palprep.consent.whisper import INSTALL, Whisper

    try:
        model = Whisper.load()
    except ToolError as error:
        return Finding(
            part="model",
            name="consent",
            state="missing",
            required=False,
            detail=error.message,
            mend=INSTALL,
        )
    return Finding(
        part="model",
        name="consent",
        state="ok",
        required=False,
        detail=f"{model.name}, sha256 {model.sha256}",
    )


def _view(findings: tuple[Finding, ...]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    styles = {"ok": "green", "missing": "yellow", "broken": "bold red"}
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    part = ""
    for finding in findings:
        detail = Text(finding.detail, overflow="fold")
        if finding.mend:
            detail.append(f"\n{finding.mend}", "bold")
        table.add_row(
            Text("" if finding.part == part else finding.part, "dim"),
            Text(finding.name),
            Text(finding.state, styles[finding.state]),
            detail,
        )
        part = finding.part
    return table
