"""The labelled pictures that the checks of a portrait are fitted on and measured with.

    python -m research.material.sources_and_labels PICTURES --clones CLONES
        [--check ID] [--source OWNER/NAME]

No picture is part of the project. ``material/sources.csv`` names each source with its commit, its
licence and its use. Models are fitted on sources of the use ``fit`` alone; those of the use
``measure`` have terms that allow no more, or are kept unseen. ``material/CHECK_ID.csv`` says which
pictures of which source must pass that check, and of which kind each is; ``portraits.csv`` and
``portraits-fresh.csv`` do so for the check as a whole. ``portraits-28.csv`` has the same of a set
that is broad on purpose, with both readings of each picture, see :class:`TwiceRead`. Its halves
are named by --check alone: nothing takes the second up by itself.
``portraits-28-measured.csv`` is what the checks measured of them (``evaluation/measured.py``).

CLONES holds clones of the sources as owner/name, bare or with a work tree, and the Debian packages
as they were downloaded. The pictures that the labels name, or with --source a whole source, are
written to PICTURES/owner/name/path, and to PICTURES/debian:PACKAGE/path.

With --near-duplicates, rows are dropped from the labels whose picture another row of the same
check shows as well: the row of a source for fitting stays, then the earlier one.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.media.images import open_image
from palprep.media.sources import Source
from palprep.vision import MAX_SIDE, Models, Pixels
from palprep.vision.arrays import shrunk
from palprep.vision.detect import Detection, find_faces
from palprep.vision.identity import embed, perceptual_hash

MATERIAL = Path(__file__).resolve().parent

WHOLE_CHECK = "portraits"
"""The label file of the check as a whole: portraits that nothing should fail, and others."""

FRESH_SET = "portraits-fresh"
"""The same again, of sources that were labelled after every limit had been set."""

BROAD_SET = "portraits-28"
"""A set that is broad on purpose: every picture was read twice, in two orders, the second time
without sight of the first reading and before any check had seen it."""

BROAD_HALVES = {f"{BROAD_SET}-{half}": half for half in ("first", "second", "later")}
"""The halves of it by the names that they have as a check. All sources of one owner are in one
half: the first where the last hexadecimal digit of the SHA-256 of the owner's name, in small
letters, is even. The second is for judging once, when nothing will be changed after it. ``later``
holds sources of other owners, read in the same way six days later."""

VIDEOS = ("videos", "videos-measured")
"""Labels and measures of footage, see ``evaluation/videos.py``."""

FIT = "fit"
"""The reading of a picture that no check should fail. Every other one names what is wrong, with a
question mark where the eye was in doubt."""

ALIKE_BITS = 6
"""Perceptual hashes of 64 bits that differ in no more are of one picture."""

ALIKE_FACES = 0.8
"""Cosine of two embeddings from which both are of one photograph, cut or coded otherwise. Other
photographs of the same person are mostly below it."""

ABOVE, BELOW, ASIDE = 1.2, 1.8, 1.6
"""How much is kept around one face of several, in heights of its box from its middle."""

PATHS_A_CALL = 400
"""Paths that one call of git is given: a command line has an end."""


class MaterialSource(NamedTuple):
    """A row of sources.csv."""

    source: str
    """owner/name of a public repository, or ``debian:PACKAGE``."""
    commit: str
    """The commit, or the version of the package."""
    licence: str
    use: str
    """``fit``, or ``measure`` for what nothing may be fitted on."""
    kind: str
    note: str


class Labelled(NamedTuple):
    """A row of a check's label file."""

    source: str
    path: str
    face_x: str
    """With ``face_y`` the middle of the face that is meant, in pixels; empty where the picture is
    meant as a whole."""
    face_y: str
    wanted: bool
    """Whether the check must pass it."""
    group: str
    """The kind of picture, by which errors are counted."""

    @property
    def key(self) -> str:
        """Names the row among those of its check."""
        return f"{self.source}/{self.path}@{self.face_x},{self.face_y}"

    def file(self, pictures: Path) -> Path:
        """Where the picture lies."""
        return pictures / self.source / self.path


class TwiceRead(NamedTuple):
    """A row of :data:`BROAD_SET`."""

    source: str
    path: str
    half: str
    reading_1: str
    reading_2: str
    groups: str
    """What the person looks like, to the eye: words between semicolons. Complexion (``dark``,
    ``light``) is given where the region is not."""

    @property
    def wanted(self) -> bool | None:
        """Whether both readings call it fit; None where they differ, or one is in doubt."""
        readings = (self.reading_1, self.reading_2)
        if FIT not in readings and not any(reading.endswith("?") for reading in readings):
            return False
        return True if readings == (FIT, FIT) else None

    @property
    def labelled(self) -> Labelled:
        """As a row of the check as a whole. Raises ValueError where nothing is wanted of it."""
        if self.wanted is None:
            raise ValueError(f"the readings of {self.path} differ: it has no label")
        group = "portrait" if self.wanted else self.reading_1
        return Labelled(self.source, self.path, "", "", self.wanted, group)


def read_broad_set(half: str) -> list[TwiceRead]:
    """The rows of one half, ``first`` or ``second``, or those that came ``later``."""
    with (MATERIAL / f"{BROAD_SET}.csv").open(newline="", encoding="utf-8") as stream:
        rows = [TwiceRead(**row) for row in csv.DictReader(stream)]
    return [row for row in rows if row.half == half]


def read_sources() -> Mapping[str, MaterialSource]:
    """All sources by name."""
    with (MATERIAL / "sources.csv").open(newline="", encoding="utf-8") as stream:
        return {row["source"]: MaterialSource(**row) for row in csv.DictReader(stream)}


def checks_labelled() -> list[str]:
    """The ids of the checks that have labels, :data:`WHOLE_CHECK` and :data:`FRESH_SET`."""
    stems = {path.stem for path in MATERIAL.glob("*.csv") if not path.stem.startswith(BROAD_SET)}
    return sorted(stems - {"sources", "talkers", "learners", "best", "overlays", *VIDEOS})


def read_labels(check_id: str, *, use: str | None = None) -> list[Labelled]:
    """The rows of one check, all or those whose source has that use."""
    sources = read_sources()
    if check_id in BROAD_HALVES:
        read = read_broad_set(BROAD_HALVES[check_id])
        return [row.labelled for row in read if row.wanted is not None]
    with (MATERIAL / f"{check_id}.csv").open(newline="", encoding="utf-8") as stream:
        columns = next(table := csv.reader(stream))
        if tuple(columns) != Labelled._fields:
            raise SystemExit(f"{check_id}.csv must have the columns {','.join(Labelled._fields)}")
        rows = [
            Labelled(source, path, x, y, wanted == "1", group)
            for source, path, x, y, wanted, group in table
        ]
    return [row for row in rows if use is None or sources[row.source].use == use]


def write_labels(check_id: str, rows: Iterable[Labelled]) -> None:
    """The other way round."""
    with (MATERIAL / f"{check_id}.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(Labelled._fields)
        writer.writerows((*row[:4], int(row.wanted), row.group) for row in rows)


def portrait_of(row: Labelled, pictures: Path, models: Models) -> Pixels:
    """The upright sRGB picture as a portrait of the face that is meant.

    A picture that is meant as a whole, or has one face only, is taken whole; else it is cut
    around the face.
    """
    if not row.face_x:
        return np.asarray(open_image(Source.of(row.file(pictures)), max_side=MAX_SIDE)[1])
    rgb = np.asarray(open_image(Source.of(row.file(pictures)))[1])
    scale = min(1.0, MAX_SIDE / max(rgb.shape[:2]))
    small = shrunk(rgb, scale) if scale < 1 else rgb
    place = np.array([float(row.face_x), float(row.face_y)])
    faces = find_faces(small, models.detector)
    if len(faces) < 2:
        return small
    return cut_around(rgb, nearest_face(faces, place * scale), 1 / scale)


def nearest_face(faces: Iterable[Detection], place: NDArray[np.float64]) -> Detection:
    """The face whose middle is nearest to ``place``, x and y in pixels."""
    return min(faces, key=lambda found: float(np.hypot(*(np.array(found.middle) - place))))


def cut_around(rgb: Pixels, face: Detection, scale: float) -> Pixels:
    """One face of several, with head and shoulders; ``scale`` takes the face's pixels to those
    of ``rgb``."""
    x, y = (float(each) * scale for each in face.middle)
    height = face.box[3] * scale
    rows = slice(max(0, int(y - ABOVE * height)), int(y + BELOW * height))
    columns = slice(max(0, int(x - ASIDE * height)), int(x + ASIDE * height))
    cut = np.ascontiguousarray(rgb[rows, columns])
    longest = max(cut.shape[:2])
    return shrunk(cut, MAX_SIDE / longest) if longest > MAX_SIDE else cut


def extract(source: MaterialSource, clones: Path, pictures: Path, paths: Sequence[str]) -> None:
    """Write these files of a source; all of them where ``paths`` is empty."""
    target = pictures / source.source
    missing = [path for path in paths if not (target / path).is_file()]
    if paths and not missing:
        return
    target.mkdir(parents=True, exist_ok=True)
    if source.source.startswith("debian:"):
        name = f"{source.source.removeprefix('debian:')}_{source.commit.replace(':', '%3a')}_*.deb"
        subprocess.run(["dpkg-deb", "-x", str(next(clones.glob(name))), str(target)], check=True)
        return
    clone = clones / source.source
    git = clone / ".git" if (clone / ".git").exists() else clone
    for first in range(0, max(1, len(missing)), PATHS_A_CALL):
        some = missing[first : first + PATHS_A_CALL]
        order = ["git", f"--git-dir={git}", "archive", source.commit, "--", *some]
        with subprocess.Popen(order, stdout=subprocess.PIPE) as archive:
            subprocess.run(["tar", "-x", "-C", str(target)], stdin=archive.stdout, check=True)
        if archive.returncode:
            raise SystemExit(f"{source.source}: git could not give what the labels name")


def alike_pairs(
    rows: Sequence[Labelled], pictures: Path, models: Models
) -> Iterator[tuple[Labelled, Labelled]]:
    """Pairs of rows whose pictures are the same photograph."""
    hashes, faces = [], []
    for row in rows:
        rgb = portrait_of(row, pictures, models)
        found = find_faces(rgb, models.detector)
        signs = int(perceptual_hash(rgb), 16)
        hashes.append([signs >> shift & 1 for shift in range(64)])
        faces.append(embed(rgb, found[0], models.identity) if found else np.zeros(128))
    bits, known = np.array(hashes, np.int8), np.array(faces)
    for index, row in enumerate(rows):
        differing = (bits[index + 1 :] != bits[index]).sum(1)
        cosines = known[index + 1 :] @ known[index]
        for other in np.flatnonzero((differing <= ALIKE_BITS) | (cosines >= ALIKE_FACES)):
            yield row, rows[index + 1 + int(other)]


def without_duplicates(
    rows: Sequence[Labelled], pictures: Path, models: Models
) -> tuple[list[Labelled], list[Labelled]]:
    """The rows that stay, and those whose picture an earlier one shows; rows of sources for
    fitting count as earlier."""
    sources = read_sources()
    ordered = sorted(rows, key=lambda row: sources[row.source].use != "fit")
    dropped: set[str] = set()
    for kept, other in alike_pairs(ordered, pictures, models):
        if kept.key not in dropped:
            dropped.add(other.key)
    return (
        [row for row in rows if row.key not in dropped],
        [row for row in rows if row.key in dropped],
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument("--clones", type=Path, help="write the pictures from these clones")
    parser.add_argument("--check", action="append", help="a label file; all when not given")
    parser.add_argument("--source", action="append", default=[], help="write a source as a whole")
    parser.add_argument("--near-duplicates", action="store_true", help="drop them from the labels")
    options = parser.parse_args(arguments)
    sources, checks = read_sources(), options.check or checks_labelled()
    if options.clones:
        named: dict[str, list[str]] = defaultdict(list)
        for row in (row for check in checks for row in read_labels(check)):
            named[row.source].append(row.path)
        named = {name: [] for name in options.source} if options.source else named
        for name, paths in named.items():
            extract(sources[name], options.clones, options.pictures, sorted({*paths}))
            print(f"{name}: {len({*paths}) or 'all'} files")
    for check in checks if options.near_duplicates else ():
        stay, go = without_duplicates(read_labels(check), options.pictures, Models())
        write_labels(check, stay)
        print(f"{check}: {len(stay)} rows, {len(go)} shown twice are gone")
        print(*(f"  {row.key}" for row in go), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
