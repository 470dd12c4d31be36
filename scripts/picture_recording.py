"""Make docs/recording.png: two steps of the recording page, as Chromium shows them.

Its camera plays the sample person's consent video, its microphone the statement and the words of a
code. Pillow leaves out most colours, since a page has few.

uv run scripts/picture_recording.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from unittest.mock import patch

import imageio_ffmpeg
from PIL import Image

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT / "tests" / "support"))

from driven import Driven  # type: ignore[import-not-found]  # noqa: E402 -- of the tests

from palprep import journal as journals  # noqa: E402
from palprep.preflight import media_workers  # noqa: E402
from palprep.record import LocalSite, Recording  # noqa: E402
from palprep.rules import load_profile  # noqa: E402

PICTURE = CHECKOUT / "docs/recording.png"
SAMPLE = CHECKOUT / "sample_media/people/jane-carter/consent.mp4"
CODE, SPOKEN = ("tiger", "lemon", "cactus"), CHECKOUT / "sample_media/code.m4a"
WIDTH, HEIGHT, COLOURS = 760, 1120, 192
TAKE_S = 15


def main() -> None:
    """Record, then show the steps side by side."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        shown = [home / "portrait.png", home / "consent.png"]
        words = iter(CODE * 2)
        known = partial(journals.give_code, choose=lambda left: next(words, left[0]))
        browser = Driven(home, *_devices(home))
        with (
            patch.object(journals, "give_code", known),
            journals.Journal.of(home / "out", create=True) as journal,
            media_workers(1) as workers,
        ):
            place = home / "people" / "jane-carter"
            recording = Recording(place, journal, workers, profile=load_profile("core-4"))
            with LocalSite("record", recording.routes(), port=0) as site:
                _record(browser, site, shown)
            recording.close()
        browser.close()
        left, right = (Image.open(each).convert("RGB") for each in shown)
        both = Image.new("RGB", (left.width + right.width, HEIGHT), left.getpixel((0, 0)))
        both.paste(left, (0, 0))
        both.paste(right, (left.width, 0))
        few = both.quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(PICTURE, optimize=True)
    print(PICTURE)


def _devices(home: Path) -> list[str]:
    """What the browser takes for a camera and a microphone."""
    ffmpeg = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin", "-i", str(SAMPLE)]
    scaled = ["-vf", "scale=1280:720,fps=30", "-an", "-q:v", "3", str(home / "camera.mjpeg")]
    subprocess.run([*ffmpeg, *scaled], check=True)
    joined = ["-i", str(SPOKEN), "-filter_complex", "[0:a][1:a]concat=v=0:a=1", "-ar", "48000"]
    subprocess.run([*ffmpeg, *joined, "-ac", "1", str(home / "microphone.wav")], check=True)
    return [
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-video-capture={home / 'camera.mjpeg'}",
        f"--use-file-for-fake-audio-capture={home / 'microphone.wav'}",
    ]


def _record(browser: Driven, site: LocalSite, shown: list[Path]) -> None:
    for name in ("camera", "microphone"):
        browser.ask_browser(
            "Browser.setPermission",
            permission={"name": name},
            setting="granted",
            origin=site.origin,
        )
    browser.look(WIDTH, HEIGHT)
    browser.open(site.link)
    browser.run("document.querySelector('[name=full_name]').select()")
    browser.type("Jane Carter")
    browser.press("#agree button")
    portrait, consent = ("[data-role=face-image]", "[data-role=consent-video]")
    browser.press(f"{portrait} [data-do=open]")
    browser.until(f"document.querySelector({f'{portrait} [data-is=told]'!r}).textContent")
    _picture(browser, portrait, shown[0])
    browser.press(f"{consent} [data-do=open]")
    browser.press(f"{consent} [data-do=start]")
    time.sleep(TAKE_S)
    browser.press(f"{consent} [data-do=stop]")
    browser.until(f"document.querySelector({f'{consent} .take .badge, {consent} .take li'!r})", 90)
    verdict = f"document.querySelector({f'{consent} [data-is=verdict]'!r})"
    browser.until(f"{verdict}.textContent && !{verdict}.matches('.busy')", 90)
    _picture(browser, consent, shown[1])


def _picture(browser: Driven, step: str, path: Path) -> None:
    """The page with that step alone, and no path of this machine."""
    browser.run(
        f"""(() => {{
            for (const each of document.querySelectorAll("main > section"))
                each.style.display = each.matches({step!r}) ? "" : "none";
            for (const each of document.querySelectorAll("option")) each.textContent = "Camera";
        }})()"""
    )
    browser.picture(path, WIDTH, HEIGHT)
    browser.run(
        'document.querySelectorAll("main > section").forEach((it) => it.style.display = "")'
    )


if __name__ == "__main__":
    main()
