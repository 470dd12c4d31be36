"""Videos that show a photograph while somebody speaks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import imageio_ffmpeg

MOTIONS = {
    "static": "scale=1280:720",
    "swaying": "scale=1344:-2,crop=1280:720:32+9*sin(2*PI*t/3):18+7*sin(2*PI*t/2.2)",
    "zooming": "scale=w='2*trunc((1344+40*sin(2*PI*t/5))/2)':h=-2:eval=frame,crop=1280:720",
}
"""What is done to the photograph, as filters of ffmpeg, from more than 720 lines to 720."""


def still_video(talk: Path, made: Path, *, at_s: float, motion: str) -> Path:
    """The sound of ``talk``, and all the while its frame at that second, moved as a whole."""
    exe = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error", "-nostdin"]
    photograph = made.with_suffix(".png")
    subprocess.run(
        [*exe, "-ss", str(at_s), "-i", str(talk), "-frames:v", "1", str(photograph)], check=True
    )
    subprocess.run(
        [
            *(*exe, "-loop", "1", "-framerate", "25", "-i", str(photograph), "-i", str(talk)),
            *("-map", "0:v", "-map", "1:a", "-vf", MOTIONS[motion], "-shortest"),
            *("-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-c:a", "copy"),
            *("-movflags", "+faststart", str(made)),
        ],
        check=True,
    )
    return made
