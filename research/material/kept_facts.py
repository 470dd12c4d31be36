"""What is measured of the labelled pictures, kept on disk so that the next run is quick.

What is kept is keyed by the picture's content, by the face that is meant, and by the code that
measured it: a change of that code, or of the weights, measures anew.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

import palprep.vision
from palprep.facts import Facts
from palprep.media.images import open_image
from palprep.media.sources import Source
from palprep.networks import read_manifest
from palprep.vision import MAX_SIDE, Models, Pixels
from palprep.vision.analysis import analyse_portrait
from research.material.sources_and_labels import Labelled, portrait_of

Arrays = Mapping[str, NDArray[np.float64]]


class Kept:
    """A folder of what one piece of code made of pictures.

    ``name`` says what is kept. ``code`` are the modules, or packages with all their modules,
    whose change makes it void, and ``weights`` the names of the weights, all when None. A fit
    keeps its features with the weights that these need, without those that it fits.
    """

    def __init__(
        self,
        pictures: Path,
        name: str,
        code: Iterable[ModuleType],
        weights: Iterable[str] | None = None,
    ) -> None:
        self._pictures = pictures
        self._folder = pictures / ".kept" / f"{name}-{version_of(code, weights)}"

    def bytes_of(self, row: Labelled, make: Callable[[], bytes]) -> bytes:
        """What is kept of that row, else what ``make`` gives, which is then kept."""
        content = hashlib.sha256(row.file(self._pictures).read_bytes())
        content.update(f"@{row.face_x},{row.face_y}".encode())
        file = self._folder / content.hexdigest()
        if file.is_file():
            return file.read_bytes()
        made = make()
        self._folder.mkdir(parents=True, exist_ok=True)
        # Written whole or not at all, for others may read the same folder at once.
        part = file.with_suffix(f".{os.getpid()}")
        part.write_bytes(made)
        part.replace(file)
        return made

    def arrays_of(self, row: Labelled, make: Callable[[], Arrays]) -> Arrays:
        """The same of arrays by name."""

        def packed() -> bytes:
            stream = io.BytesIO()
            np.savez_compressed(stream, allow_pickle=False, **make())
            return stream.getvalue()

        with np.load(io.BytesIO(self.bytes_of(row, packed))) as arrays:
            return dict(arrays)

    def described(
        self, rows: Iterable[Labelled], make: Callable[[Labelled], Arrays]
    ) -> list[tuple[Labelled, Arrays]]:
        """The rows with their arrays, without those of which there are none.

        By key: which rows a fit holds out together must not hang on the order of a file.
        """
        ordered = sorted(rows, key=lambda row: row.key)
        found = ((row, self.arrays_of(row, functools.partial(make, row))) for row in ordered)
        return [(row, arrays) for row, arrays in found if arrays]


def version_of(code: Iterable[ModuleType], weights: Iterable[str] | None = None) -> str:
    """A hash of the source of these modules, and of these weights of ``palprep.vision``."""
    manifest = read_manifest("palprep.vision")
    digest = hashlib.sha256()
    for name in sorted(manifest if weights is None else weights):
        digest.update(manifest[name].sha256.encode())
    for module in code:
        file = Path(str(module.__file__))
        files = sorted(file.parent.glob("*.py")) if file.name == "__init__.py" else [file]
        for each in files:
            digest.update(each.read_bytes())
    return digest.hexdigest()[:12]


class FactsOfRows:
    """The facts of labelled pictures, as a check measures them."""

    def __init__(self, pictures: Path, *, models: Models | None = None) -> None:
        self.pictures = pictures
        self._models = models
        self._kept = Kept(pictures, "facts", [palprep.vision])

    @cached_property
    def models(self) -> Models:
        return self._models or Models()

    def of(self, row: Labelled) -> Facts:
        """Measured, or kept from an earlier run."""
        return Facts.model_validate_json(self._kept.bytes_of(row, lambda: self._measure(row)))

    def _measure(self, row: Labelled) -> bytes:
        source = Source.of(row.file(self.pictures))
        image, picture = open_image(source, max_side=MAX_SIDE)
        pixels: Pixels = np.asarray(picture)
        size: tuple[int, int] | None = (image.width, image.height)
        if row.face_x:
            pixels, size = portrait_of(row, self.pictures, self.models), None
        portrait = analyse_portrait(pixels, self.models, size=size)
        return Facts(file=source.facts, image=image, portrait=portrait).model_dump_json().encode()


def write_held_out(
    pictures: Path, check_id: str, weights: Path, rows: Sequence[Labelled], values: Sequence[float]
) -> None:
    """Keep what a model says of the rows that it is fitted on, each by a fit without its source.

    ``weights`` is the file of the model that all rows gave: :func:`read_held_out` takes the
    values for no other.
    """
    with _held_out(pictures, check_id, weights).open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(
            (row.key, repr(float(value))) for row, value in zip(rows, values, strict=True)
        )


def read_held_out(pictures: Path, check_id: str, weights: Path) -> Mapping[str, float]:
    """By the rows' keys. Raises SystemExit where the fit of these weights has left none."""
    file = _held_out(pictures, check_id, weights)
    if not file.is_file():
        raise SystemExit(f"{file} is missing: run the script that fits {weights.name}")
    with file.open(newline="", encoding="utf-8") as stream:
        return {key: float(value) for key, value in csv.reader(stream)}


def _held_out(pictures: Path, check_id: str, weights: Path) -> Path:
    folder = pictures / ".kept" / "held-out"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{check_id}-{hashlib.sha256(weights.read_bytes()).hexdigest()[:12]}.csv"
