"""What is installed: packages, extras, binaries and models."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from typing import Literal

from palprep._version import __version__
from palprep.consent import Whisper
from palprep.errors import ToolError, ToolFailed, ToolMissing
from palprep.media import ffmpeg_binary, ffmpeg_version, read_manifest
from palprep.values import Value
from palprep.vocabulary import install_advice

State = Literal["ok", "missing", "broken"]


class Finding(Value):
    """One part of the installation. ``fix`` says what to do when it is missing or broken."""

    part: Literal["palprep", "package", "extra", "binary", "model"]
    name: str
    state: State
    required: bool
    detail: str
    fix: str | None = None


def examine() -> Iterator[Finding]:
    """Examine everything that palprep depends on: ffmpeg is run, models are hashed and loaded."""
    yield Finding(
        part="palprep",
        name="palprep",
        state="ok",
        required=True,
        detail=f"{__version__} on Python {platform.python_version()}, {platform.platform()}",
    )
    yield from _packages(metadata.requires("palprep") or ())
    yield _looked_at(
        "binary",
        "ffmpeg",
        lambda: f"{ffmpeg_version()} at {ffmpeg_binary()}",
        fix="pip install --force-reinstall imageio-ffmpeg",
    )
    yield from _models()
    yield _looked_at("model", "consent", _consent_model)


_EXTRA = re.compile(r"extra\s*==\s*['\"]([\w-]+)['\"]")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def _packages(requirements: Iterable[str]) -> Iterator[Finding]:
    for requirement in requirements:
        name_match = _NAME.match(requirement)
        name = name_match.group() if name_match else requirement
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
        for name, entry in read_manifest(home).items():
            if entry.extra is not None and not entry.locate().is_file():
                yield Finding(
                    part="model",
                    name=name,
                    state="missing",
                    required=False,
                    detail="not installed",
                    fix=install_advice(entry.extra),
                )
                continue
            wrong = entry.problem()
            yield Finding(
                part="model",
                name=name,
                state="broken" if wrong else "ok",
                required=entry.extra is None,
                detail=wrong or f"{entry.what} ({entry.licence}), sha256 {entry.sha256}",
                fix=entry.advice if wrong else None,
            )


def _looked_at(
    part: Literal["binary", "model"], name: str, look: Callable[[], str], fix: str | None = None
) -> Finding:
    """What ``look`` says of a part that palprep needs; or why it cannot, and what helps."""
    state: State = "ok"
    try:
        detail, fix = look(), None
    except ToolError as error:
        state, detail = "missing" if isinstance(error, ToolMissing) else "broken", error.message
        fix = fix or install_advice(again=isinstance(error, ToolFailed))
    return Finding(part=part, name=name, state=state, required=True, detail=detail, fix=fix)


def _consent_model() -> str:
    model = Whisper.load()
    return f"{model.name}, sha256 {model.sha256}"
