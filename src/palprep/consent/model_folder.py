"""The files of a Whisper model: those that palprep ships, or a folder of one's own.

Nothing is loaded here: a process that only hands out work can tell whether the model is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from palprep.errors import ToolMissing
from palprep.networks import Weights, read_manifest

DEFAULT_MODEL = "whisper-tiny.en"


def read_part(directory: str | Path | None, part: str) -> bytes:
    """A file of the default model, or of the one in ``directory``: its ``encoder``, ``memory``,
    ``decoder`` or ``tokens``.

    Raises ToolMissing when a file is missing, or is not the one that the manifest names.
    """
    entry = _parts()[part]
    if directory is None:
        return entry.read()
    return (require_model(Path(directory)) / entry.file).read_bytes()


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
    return {part: files[f"whisper_{part}"] for part in ("encoder", "memory", "decoder", "tokens")}
