"""Who judges media in the sandbox: callables given as arguments, and modest defaults.

The sandbox itself opens no media. Without judges of its own it looks at leading bytes, says
so in ``GET /_sandbox/choices``, and reports nothing that leading bytes cannot show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from palprep.errors import DamagedMedia

JudgeImage = Callable[[Path, str], Mapping[str, bool | None]]
"""``judge_image(path, model)``: the outcome of each check by its id, in order; None when it
could not be measured. Raises :class:`~palprep.errors.MediaError` for what is no picture."""

TrainingKind = Literal["voice", "replica-video", "replica-image"]

Trainer = Callable[[TrainingKind, tuple[Path, ...]], str | None]
"""``trainer(kind, paths)``: None when training succeeds, otherwise the record's error_message.
``paths`` holds the fetched files: the sound of a voice, the training video of a replica with
its consent video if there is one, or its training image. May raise a MediaError instead."""

MIN_IMAGE_BYTES = 1024

_HEIF_BRANDS = (b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1")


def picture_type(head: bytes) -> str | None:
    """The MIME type that the first 12 bytes of a picture show, or None."""
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:8] == b"ftyp" and head[8:12] in _HEIF_BRANDS:
        return "image/heic"
    return None


def plays(head: bytes) -> bool:
    """Whether the first 12 bytes are those of an accepted sound or video."""
    return (
        head.startswith((b"ID3", b"fLaC", b"OggS", b"\x1a\x45\xdf\xa3"))
        or (head[:4] == b"RIFF" and head[8:12] == b"WAVE")
        or (head[4:8] in {b"ftyp", b"moov", b"mdat", b"wide"} and picture_type(head) is None)
        # MPEG audio: eleven set bits, then a layer that is not the reserved one.
        or (len(head) > 1 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0 and head[1] & 0x06 != 0)
    )


def head_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(12)


def judge_by_bytes(path: Path, model: str) -> dict[str, bool | None]:  # noqa: ARG001
    """The default judge: one check, that the picture has at least 1024 bytes."""
    if picture_type(head_of(path)) is None:
        raise DamagedMedia("It starts like no accepted picture.")
    return {"image_quality_acceptable": path.stat().st_size >= MIN_IMAGE_BYTES}


def train_by_bytes(kind: TrainingKind, paths: tuple[Path, ...]) -> str | None:
    """The default trainer: every file starts like media of the kind that is trained from."""
    for path in paths:
        head = head_of(path)
        if kind == "replica-image":
            if picture_type(head) not in {"image/jpeg", "image/png"}:
                return "The training image is neither JPEG nor PNG."
        elif not plays(head):
            return "The file is no sound or video of an accepted type."
    return None
