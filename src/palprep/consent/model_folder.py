"""The folder of a Whisper model for CTranslate2: what must lie in it."""

from __future__ import annotations

from pathlib import Path

from palprep.errors import ToolMissing

WEIGHTS, TOKENIZER = "model.bin", "tokenizer.json"


def require_model(folder: Path) -> Path:
    """The folder of a Whisper model for CTranslate2, whole. Raises ToolMissing when it is none."""
    if not (folder / WEIGHTS).is_file() or not (folder / TOKENIZER).is_file():
        raise ToolMissing(
            f"{folder} holds no CTranslate2 Whisper model ({WEIGHTS} and {TOKENIZER}): "
            "make one with ct2-transformers-converter, as docs/accuracy.md shows"
        )
    return folder.resolve()
