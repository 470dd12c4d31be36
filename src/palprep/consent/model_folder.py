"""The files of a Whisper model: those that palprep ships, or a folder of one's own.

Nothing is loaded here: a process that only hands out work can tell whether the model is there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from palprep.errors import ToolMissing
from palprep.networks import Weights, read_manifest

DEFAULT_MODEL = "whisper-tiny.en"


class ModelFiles(NamedTuple):
    name: str
    sha256: str
    """Of the decoder's file."""
    memory: bytes
    decoder: bytes
    tokens: bytes


def read_encoder(directory: str | Path | None) -> bytes:
    """The half of a model that listens; as :func:`read_model`."""
    entry = _parts()["encoder"]
    if directory is None:
        return entry.read()
    return (require_model(Path(directory)) / entry.file).read_bytes()


def read_model(directory: str | Path | None) -> ModelFiles:
    """The files of the default model, or of the one in ``directory``, but for its encoder.

    Raises ToolMissing when a file is missing, or is not the one that the manifest names.
    """
    parts = {part: _parts()[part] for part in ModelFiles._fields[2:]}
    if directory is None:
        content = {part: entry.read() for part, entry in parts.items()}
        return ModelFiles(DEFAULT_MODEL, parts["decoder"].sha256, **content)
    folder = require_model(Path(directory))
    content = {part: (folder / entry.file).read_bytes() for part, entry in parts.items()}
    return ModelFiles(folder.name, hashlib.sha256(content["decoder"]).hexdigest(), **content)


def require_model(folder: Path) -> Path:
    """The folder of a Whisper model, whole. Raises ToolMissing when it is none."""
    for entry in _parts().values():
        if not (folder / entry.file).is_file():
            raise ToolMissing(
                f"{folder} holds no Whisper model ({entry.file} is missing): make one with "
                "research/conversion/whisper.py, as docs/accuracy.md shows"
            )
    return folder.resolve()


def _parts() -> Mapping[str, Weights]:
    files = read_manifest("palprep.consent")
    return {part: files[f"whisper_{part}"] for part in ("encoder", *ModelFiles._fields[2:])}
