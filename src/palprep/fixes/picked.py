"""The image that was picked from several, or from a video, as a file of its own."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from PIL import Image

from palprep.fixes.output import new_output
from palprep.media.frames import sample_frames
from palprep.media.source import Source


def keep_picked(source: Source, at_s: float | None, into: Path) -> Path:
    """Write a video's frame at ``at_s`` as a PNG in full size, or copy an image as it is.

    The file is named after its source, replaces no other, and is written whole or not at all.
    Raises MediaError for a frame that does not decode, OutputUnwritable.
    """
    if at_s is None:
        with new_output(into / source.path.stem, source.path.suffix, source=source.path) as output:
            shutil.copyfile(source.path, output.temporary)
        return output.path
    with contextlib.closing(sample_frames(source, from_s=at_s)) as frames:
        frame = next(frames)
    stem = into / f"{source.path.stem}-{at_s:.2f}s"
    with new_output(stem, ".png", source=source.path) as output:
        Image.fromarray(frame.rgb).save(output.temporary, "PNG")
    return output.path
