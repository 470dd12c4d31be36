"""What a browser recorded or a person gave, put under a name that says what it is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from palprep import media
from palprep.errors import DamagedMedia, ToolFailed, UnsupportedMedia
from palprep.fixes.graph import read, write
from palprep.fixes.output import new_output
from palprep.media import sources
from palprep.values import Kind

_BROWSERS = {
    **dict.fromkeys(("webm", "mkv", "mka"), "matroska"),
    **dict.fromkeys(("mp4", "m4a", "mov"), "mov"),
}
"""FFmpeg's demuxers of what MediaRecorder writes. A recording of samples is Matroska."""


def keep_recording(source: sources.Source, stem: Path, *, from_browser: bool) -> Path:
    """Copy a file to ``stem`` under the extension of its content, replacing none; its path.

    The packets of what a browser recorded are copied into a new container, without a second encode.
    A browser writes while it records, and so leaves out the length and the index, and may begin
    anywhere in time. H.264 goes into an mp4, samples into a WAV file, all else into WebM.

    Raises UnsupportedMedia for what no role takes, DamagedMedia for what cannot be read,
    OutputUnwritable.
    """
    demuxer = _BROWSERS.get(source.type.format) if from_browser else None
    if demuxer is None and not source.type.accepted:
        raise UnsupportedMedia(f"This is {source.type.description}: give an image, sound or video")
    if demuxer is None:
        return second_name(source.path, stem, source.type.extensions[0])
    if source.type.kind is Kind.VIDEO:
        suffix = ".mp4" if media.probe_video(source).codec in {"h264", "hevc"} else ".webm"
    else:
        suffix = {"webm": ".webm", "m4a": ".m4a"}.get(source.type.format, ".wav")
    options: dict[str, Any] = {"c": "copy", "avoid_negative_ts": "make_zero"}
    if suffix == ".mp4":
        options["movflags"] = "+faststart"
    with new_output(stem, suffix, source=source.path) as output:
        recorded = read(source, demuxer=demuxer, fflags="+genpts")
        try:
            write(output.temporary, recorded["v?"], recorded["a?"], **options)
        except ToolFailed:
            raise DamagedMedia("The recording cannot be read: record it again") from None
    return output.path


def second_name(path: Path, stem: Path, suffix: str) -> Path:
    """Give a file one more, free name: see :func:`new_output`. A copy where there are no links."""
    with new_output(stem, suffix, source=path) as output:
        output.temporary.unlink()  # A video may have gigabytes.
        try:
            os.link(path, output.temporary)
        except OSError:
            shutil.copyfile(path, output.temporary)
    return output.path
