"""How long check() takes for a phone's portrait, against decoding it and against MediaPipe.

    python benchmarks/faces.py [--picture FILE] [--mediapipe PYTHON --task face_landmarker.task]

Makes a JPEG and a HEIC of 12 megapixels from the picture (the sample portrait by default), and
times, in one run and in turns, so that a busy machine burdens all alike:

- check(): everything palprep measures and judges of the file,
- the bare full decode of the same file by Pillow (pillow-heif for HEIC),
- MediaPipe's Face Landmarker on the fully decoded picture, in the interpreter given by
  --mediapipe (a throw-away environment with the package mediapipe; palprep does not need it),
  loading of the model not counted, as loading of palprep's is not.

Prints medians and ratios. The goal for JPEG: check() within 1.5 times the bare decode, and
faster than MediaPipe with its decode.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pillow_heif
from PIL import Image

from palprep.preflight import Preflight

CHECKOUT = Path(__file__).resolve().parents[1]
WIDTH, HEIGHT = 4000, 3000

NOISE = 6.0
"""Standard deviation in 8-bit levels: the JPEG then has about 3 MB, as a phone's has."""

LANDMARKER = """
import json, sys, time
import mediapipe as mp
import numpy as np
from PIL import Image
if sys.argv[2].endswith("heic"):
    import pillow_heif
    pillow_heif.register_heif_opener()
options = mp.tasks.vision.FaceLandmarkerOptions(
    base_options=mp.tasks.BaseOptions(model_asset_path=sys.argv[1]),
    output_face_blendshapes=True, output_facial_transformation_matrixes=True)
with mp.tasks.vision.FaceLandmarker.create_from_options(options) as landmarker:
    for line in sys.stdin:
        begin = time.perf_counter()
        with Image.open(sys.argv[2]) as picture:
            pixels = np.asarray(picture.convert("RGB"))
        found = landmarker.detect(mp.Image(image_format=mp.ImageFormat.SRGB, data=pixels))
        print(json.dumps([time.perf_counter() - begin, len(found.face_landmarks)]), flush=True)
"""


def enlarge(source: Path, folder: Path) -> tuple[Path, Path]:
    """The picture as 12-megapixel JPEG and HEIC with a little sensor noise, so that the coded
    size is a photograph's."""
    with Image.open(source) as opened:
        picture = opened.convert("RGB")
    scale = max(WIDTH / picture.width, HEIGHT / picture.height)
    size = (round(picture.width * scale), round(picture.height * scale))
    left, top = (size[0] - WIDTH) // 2, (size[1] - HEIGHT) // 2
    large = picture.resize(size, Image.Resampling.LANCZOS).crop(
        (left, top, left + WIDTH, top + HEIGHT)
    )
    noise = np.random.default_rng(0).normal(0, NOISE, (HEIGHT, WIDTH, 3))
    noisy = np.clip(np.asarray(large, np.float32) + noise, 0, 255).astype(np.uint8)
    final = Image.fromarray(noisy)
    jpeg, heic = folder / "portrait.jpg", folder / "portrait.heic"
    final.save(jpeg, quality=92)
    pillow_heif.from_pillow(final).save(heic, quality=80)
    return jpeg, heic


def decode(path: Path) -> None:
    with Image.open(path) as picture:
        picture.convert("RGB").load()


def timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


class Landmarker:
    """MediaPipe in an interpreter of its own, asked for one run at a time."""

    def __init__(self, python: Path, task: Path, picture: Path) -> None:
        command = [str(python), "-c", LANDMARKER, str(task), str(picture)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self) -> float:
        if self.process.stdin is None or self.process.stdout is None:
            raise RuntimeError("pipes were asked for")
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("MediaPipe did not answer: does the interpreter have mediapipe?")
        seconds, faces = json.loads(line)
        if faces != 1:
            raise SystemExit(f"MediaPipe sees {faces} faces in the picture; give one with one")
        return float(seconds)

    def close(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(timeout=30)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--picture",
        type=Path,
        default=CHECKOUT / "sample_media" / "people" / "anna-miller" / "portrait.png",
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--mediapipe", type=Path, help="interpreter that has mediapipe")
    parser.add_argument("--task", type=Path, help="face_landmarker.task")
    options = parser.parse_args(arguments)
    pillow_heif.register_heif_opener()
    preflight = Preflight()
    with tempfile.TemporaryDirectory() as folder:
        for path in enlarge(options.picture, Path(folder)):
            works: dict[str, Callable[[], float]] = {
                "full decode": lambda path=path: timed(lambda: decode(path)),
                "check()": lambda path=path: timed(lambda: preflight.check(path)),
            }
            landmarker = None
            if options.mediapipe and options.task:
                landmarker = Landmarker(options.mediapipe, options.task, path)
                works["MediaPipe with decode"] = landmarker.run
            runs: dict[str, list[float]] = {name: [] for name in works}
            for number in range(options.rounds + 1):
                for name, work in works.items():
                    seconds = work()
                    if number:  # the first round loads models and fills caches
                        runs[name].append(seconds)
            if landmarker:
                landmarker.close()
            report(path, runs)
    return 0


def report(path: Path, runs: dict[str, list[float]]) -> None:
    size = path.stat().st_size / 1e6
    print(f"{path.name}, {WIDTH} x {HEIGHT}, {size:.1f} MB, medians of {len(runs['check()'])}:")
    base = statistics.median(runs["full decode"])
    for name, seconds in runs.items():
        median = statistics.median(seconds)
        ratio = statistics.median(
            one / decoded for one, decoded in zip(seconds, runs["full decode"], strict=True)
        )
        print(f"  {name:22} {median * 1000:7.0f} ms  {median / base:5.2f} x  (paired {ratio:.2f})")


if __name__ == "__main__":
    sys.exit(main())
