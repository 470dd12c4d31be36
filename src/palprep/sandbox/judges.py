"""Who judges media in the sandbox: callables given as arguments, and modest defaults.

The sandbox itself decodes no media. Without judges it looks at the first bytes only, says so in
``GET /_sandbox/choices``, and reports nothing that first bytes cannot show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from palprep.errors import DamagedMedia
from palprep.media import Source
from palprep.values import Kind

JudgeImage = Callable[[Path, str], Mapping[str, bool | None]]
"""``judge_image(path, model)``: the outcome of each check by its id, in order; None when it
could not be measured. Raises :class:`~palprep.errors.MediaError` for what is not an image."""

TrainingKind = Literal["voice", "replica-video", "replica-image"]

Trainer = Callable[[TrainingKind, tuple[Path, ...]], str | None]
"""``trainer(kind, paths)``: None when training succeeds, otherwise the record's error_message.
``paths`` holds the fetched files: the recording of a voice, the training video of a replica with
its consent video if there is one, or its training image. May raise a MediaError instead."""

MIN_IMAGE_BYTES = 1024

# Create Voice: "Accepted file types", as formats; the videos among them train replicas too.
TRAINED_FROM = frozenset({"mp3", "wav", "m4a", "flac", "ogg", "webm", "mp4", "mov"})


def judge_by_bytes(path: Path, model: str) -> dict[str, bool | None]:  # noqa: ARG001
    """The default judge: one check, that the image has at least 1024 bytes.

    Raises :class:`~palprep.errors.DamagedMedia` for what is not an image.
    """
    found = Source.of(path).type
    if found.kind is not Kind.IMAGE:
        raise DamagedMedia(f"It is {found.description}, not an image of an accepted type.")
    return {"image_quality_acceptable": path.stat().st_size >= MIN_IMAGE_BYTES}


def train_by_bytes(kind: TrainingKind, paths: tuple[Path, ...]) -> str | None:
    """The trainer where none is given: every file starts like media of the kind that is trained
    from.
    """
    for path in paths:
        found = Source.of(path).type
        if kind == "replica-image":
            if found.format not in {"jpeg", "png"}:
                return "The training image is neither JPEG nor PNG."
        elif found.format not in TRAINED_FROM:
            return "The file is not a recording or video of an accepted type."
    return None
