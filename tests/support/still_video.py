"""Videos that show a photograph while somebody speaks."""

from __future__ import annotations

import runpy
import subprocess
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pillow_heif
from PIL import Image
from spoken import decode

from palprep.speech import RATE_HZ

MOTIONS = {
    "static": "scale=640:360",
    "swaying": "scale=672:-2,crop=640:360:16+4.5*sin(2*PI*t/3):9+3.5*sin(2*PI*t/2.2)",
    "zooming": "scale=w='2*trunc((672+20*sin(2*PI*t/5))/2)':h=-2:eval=frame,crop=640:360",
}
"""What is done to the photograph, as filters of ffmpeg, from more than 360 lines to 360."""


def still_video(talk: Path, made: Path, *, at_s: float, motion: str) -> Path:
    """The sound of ``talk``, and all the while its frame at that second, moved as a whole."""
    exe = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error", "-nostdin"]
    photograph = made.with_suffix(".png")
    subprocess.run(
        [
            *(*exe, "-ss", str(at_s), "-i", str(talk)),
            *("-frames:v", "1", "-vf", "scale=960:-2", str(photograph)),
        ],
        check=True,
    )
    subprocess.run(
        [
            *(*exe, "-framerate", "25", "-i", str(photograph), "-i", str(talk)),
            # Repeated here, the photograph is decoded once.
            *("-map", "0:v", "-map", "1:a", "-vf", f"loop=-1:1,{MOTIONS[motion]}", "-shortest"),
            *("-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-c:a", "copy"),
            *("-movflags", "+faststart", str(made)),
        ],
        check=True,
    )
    return made


def forged_video(
    talk: Path, made: Path, picture: str = "null", sound: str = "anull", *, shortest: bool = True
) -> Path:
    """``talk`` with its picture or its sound changed by filters of ffmpeg; ``shortest`` ends both
    with the one that ends first."""
    subprocess.run(
        [
            *(imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error", "-nostdin", "-i", str(talk)),
            *("-vf", picture, "-af", sound, "-map", "0:v", "-map", "0:a"),
            *(("-shortest",) if shortest else ()),
            *("-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", str(made)),
        ],
        check=True,
    )
    return made


def animated_photograph(sample_media: Path, talk: Path, made: Path, *, sways: bool = False) -> Path:
    """The sound of ``talk``, and the sample portrait, whose mouth moves with it and whose eyes
    blink, as the sample videos are made, but for the head: that stays where it is, or ``sways``
    without turning."""
    face = runpy.run_path(str(sample_media / "mouth.py"))
    pillow_heif.register_heif_opener()
    with Image.open(sample_media / "people/jane-carter/portrait.heic") as stored:
        shown = stored.convert("RGB").resize((448, 448))
    # Where it stands in the picture that the places of mouth and eyes are named for.
    portrait = Image.new("RGB", (512, 512))
    portrait.paste(shown, (4, 0))
    pixels, sound = np.asarray(portrait, np.float32), decode(talk)
    count = int(len(sound) / RATE_HZ * 25)
    opened, spread = face["shapes"](sound, RATE_HZ, count, 25)
    places = face["sways"](count, 25) * sways
    frames = []
    for wide, apart, shut, place in zip(
        opened, spread, face["blinks"](count, 25, seed=1), places, strict=True
    ):
        moved = face["stretched"](face["blinking"](pixels, shut), face["MOST_SPREAD"] * apart)
        spoken = face["speaking"](moved, face["MOST_OPEN"] * wide) if wide > 0 else moved
        spoken = face["swayed"](spoken, *place, turn=0.0) if sways else spoken
        frames.append(face["as_image"](spoken).crop((4, 0, 452, 252)).resize((640, 360)).tobytes())
    subprocess.run(
        [
            *(imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error", "-f", "rawvideo"),
            *("-pix_fmt", "rgb24", "-s", "640x360", "-r", "25", "-i", "-", "-i", str(talk)),
            *("-map", "0:v", "-map", "1:a", "-c:v", "libx264", "-preset", "veryfast"),
            *("-pix_fmt", "yuv420p", "-c:a", "copy", "-shortest", str(made)),
        ],
        input=b"".join(frames),
        check=True,
    )
    return made
