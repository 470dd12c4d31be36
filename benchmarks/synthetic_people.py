"""People whom nobody is, by the thousand, and all that makes their voices."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from PIL import Image

from palprep.batch import Connection, Pace, RunOptions, run, watch
from palprep.sandbox import Sandbox
from side_by_side import ffmpeg

SAMPLES = Path(__file__).resolve().parents[1] / "sample_media" / "people"
PORTRAIT = SAMPLES / "anna-miller" / "portrait.png"
RECORDING = SAMPLES / "jane-carter" / "recording.m4a"

WIDTH, HEIGHT = 3000, 4000
SHORT_S = 14
"""Of speech, just enough for a voice."""

DAY_S = 86_400.0
NO_WAITING = Pace(wait_s=0.0, doubt_wait_s=0.0)


@dataclass(frozen=True)
class Job:
    """The people of a folder, and a service whose clock is virtual."""

    place: Path
    """Holds the people's folder ``people``; ``out`` is the output."""
    service: Sandbox
    engine: str

    @classmethod
    @contextlib.contextmanager
    def at(cls, place: Path, engine: str = "local") -> Iterator[Self]:
        """With the service at work."""
        with Sandbox(place / "service", clock="virtual") as service:
            yield cls(place, service, engine)

    @property
    def out(self) -> Path:
        """The output folder."""
        return self.place / "out"

    def ask(self) -> None:
        """Prepare and ask for everything, and wait for no training."""
        run(
            self.place / "people",
            into=self.out,
            options=RunOptions(
                connection=self._connection,
                engine=self.engine,
                jobs=2 if self.engine == "local" else None,
                pace=NO_WAITING,
            ),
            tell=_silent,
            # As the command does: everybody's reports are in results.jsonl.
            with_reports=False,
        )

    def make_everybody(self) -> None:
        """From nothing to done: the trainings pass, and how they ended is taken in."""
        self.ask()
        self.service.advance(DAY_S)
        seen = watch(
            self.out,
            connection=self._connection,
            pace=NO_WAITING,
            tell=_silent,
            with_reports=False,
        )
        left = [person for person in seen.people if person.status not in {"done", "voice_only"}]
        if left:
            why = "; ".join(f"{each.name}: {' '.join(each.reasons)}" for each in left[:3])
            raise SystemExit(f"{len(left)} of {len(seen.people)} are not done: {why}")

    @property
    def _connection(self) -> Connection:
        return Connection(base_url=self.service.url, api_key=self.service.user_key)


def _silent(_: object) -> None:
    """Tell no one how it goes on."""


def portraits(folder: Path, count: int) -> Path:
    """People with a portrait each: one picture, told apart by a comment in the file."""
    with Image.open(PORTRAIT) as picture:
        tall = picture.convert("RGB").resize((HEIGHT, HEIGHT))
        left = (HEIGHT - WIDTH) // 2
        upright = tall.crop((left, 0, left + WIDTH, HEIGHT))
    one = folder.with_suffix(".jpg")
    folder.mkdir(exist_ok=True)
    upright.save(one, quality=90)
    data = one.read_bytes()

    def numbered(number: int) -> bytes:
        comment = f"{number:08}".encode()
        return data[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + data[2:]

    given = people_with(folder, "portrait.jpg", map(numbered, range(count)))
    for person in given.iterdir():
        # A portrait says nothing of the voice that the replica is to have.
        (person / "person.toml").write_text('stock_voice = "anna"\n')
    return given


def recordings(folder: Path, count: int) -> Path:
    """People with a recording each, of a minute and more."""
    return people_with(folder, "recording.m4a", numbered_m4a(RECORDING, count))


def short_recordings(folder: Path, count: int) -> Path:
    """People with a recording each, as short as it may be."""
    folder.mkdir(parents=True)
    short = folder.with_suffix(".m4a")
    ffmpeg("-i", str(RECORDING), "-t", str(SHORT_S), "-c", "copy", str(short))
    return people_with(folder, "recording.m4a", numbered_m4a(short, count))


def numbered_m4a(recording: Path, count: int) -> Iterator[bytes]:
    """The recording so many times, told apart by a box at its end that every reader skips."""
    data = recording.read_bytes()
    for number in range(count):
        yield data + (16).to_bytes(4, "big") + b"free" + f"{number:08}".encode()


def people_with(folder: Path, name: str, files: Iterator[bytes]) -> Path:
    """A folder for each file."""
    for number, content in enumerate(files):
        person = folder / f"person-{number:06}"
        person.mkdir(parents=True, exist_ok=True)
        (person / name).write_bytes(content)
    return folder
