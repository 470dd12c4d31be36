"""Which files and which variables of the environment a worker is given."""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palprep.errors import NoWorkers
from palprep.storage import is_folder, is_there
from palprep.workers.confinement import Confinement

_MOST_FILES = 64
"""Files that are named one by one. Of more, their folders are."""

_OF_THE_SYSTEM = frozenset(map(Path, ("/", "/etc", "/var", "/run", "/root", "/home", "/mnt")))
"""Folders that hold what has nothing to do with a file in them."""

_VARIABLES = frozenset(
    {
        *("PATH", "LANG", "LANGUAGE", "TZ", "TERM", "IMAGEIO_FFMPEG_EXE", "SYSTEMROOT"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"),
    }
)
_PREFIXES = ("LC_", "PYTHON", "OMP_", "OPENBLAS_", "MKL_", "OPENCV_FOR_", "ORT_DISABLE_")


@dataclass(frozen=True)
class Reach:
    """Files and folders, without links, that workers may read, and folders that they may write to
    as well. A folder stands for all that lies below it."""

    reads: frozenset[Path] = frozenset()
    writes: frozenset[Path] = frozenset()

    @classmethod
    def of(cls, reads: Iterable[Path], writes: Iterable[Path]) -> Reach:
        """These files and folders. Many files of a folder become the folder, and many folders the
        one around them: each takes a rule of the kernel, and a look at every task."""
        # Path.resolve raises RuntimeError at a link that leads to itself, before Python 3.13.
        files, before = {Path(os.path.realpath(each)) for each in reads}, set[Path]()
        while len(files) > _MOST_FILES and files != before:
            before, above = files, {each.parent for each in files}
            wider = set(filter(_may_be_opened, above))
            files = wider | {each for each in files if each.parent not in wider}
        return cls(frozenset(files), frozenset(each.resolve() for each in writes))

    def __or__(self, other: Reach) -> Reach:
        return Reach(self.reads | other.reads, self.writes | other.writes)

    def covers(self, other: Reach) -> bool:
        readable = self.reads | self.writes | _temporary()
        return all(_lies_in(each, readable) for each in other.reads) and all(
            self.may_write(each) for each in other.writes
        )

    def may_write(self, path: Path) -> bool:
        return _lies_in(path, self.writes)

    def widened(self) -> Reach:
        """The folders that hold the folders of the files: the next file will lie near them. The
        home folder, and what holds it, is never opened as a whole."""
        return Reach(frozenset(map(_around, self.reads)), self.writes)

    def confinement(self, folder: str, programs: Iterable[str], memory_bytes: int) -> Confinement:
        """What one worker is held to: this, and what Python and the programs need."""
        programs = tuple(map(os.path.realpath, programs))
        # Conda and others keep the libraries of bin/ffmpeg in lib, beside bin.
        linked = (str(Path(each).parent.parent / "lib") for each in programs)
        return Confinement(
            folder=os.path.realpath(folder),
            libraries=(*_libraries(), *linked),
            reads=tuple(map(str, self.reads | _temporary())),
            writes=tuple(map(str, self.writes)),
            programs=programs,
            memory_bytes=memory_bytes,
        )


def needed_for(values: Iterable[Any]) -> Reach:
    """What the arguments of a task name: paths, and values with a ``path``, or with the folder of a
    ``model`` or ``whisper_model``, whose files may be links. No strings: what a stranger's file
    says of itself must open nothing.
    """
    return Reach(frozenset(each.resolve() for each in _paths(values) if is_there(each)))


def _paths(values: Iterable[Any]) -> Iterable[Path]:
    for each in values:
        if isinstance(each, Path):
            yield each
        elif isinstance(each, tuple | list):
            yield from _paths(each)
        else:
            named = [getattr(each, name, None) for name in ("path", "model", "whisper_model")]
            path, *models = (each if isinstance(each, Path) else None for each in named)
            # Caches of models hold links to files elsewhere.
            linked = (file for model in models if model for file in model.glob("*"))
            yield from filter(None, (path, *models, *linked))


def environment(
    given: Mapping[str, str], *, folder: str, settings: Mapping[str, str]
) -> dict[str, str]:
    """What a worker is told: language, time zone, paths, ``settings`` of libraries, and no secret.
    Its home is its own ``folder``."""
    taken = {
        name: value
        for name, value in given.items()
        if name in _VARIABLES or name.startswith(_PREFIXES)
    }
    return {**settings, **taken, "HOME": folder, "TMPDIR": folder}


def is_broad(folder: Path) -> bool:
    """Whether the folder holds the home folder, or is it."""
    # Not Path.home, which fails for a user that the system does not know, as in some containers.
    home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111
    return home.is_relative_to(folder)


def _may_be_opened(folder: Path) -> bool:
    """Whether a folder may be opened as a whole, for files in it."""
    return folder not in _OF_THE_SYSTEM and not is_broad(folder)


def _around(path: Path) -> Path:
    if is_folder(path) or any(part.startswith(".") for part in path.parts):
        return path
    around = (path.parent.parent, path.parent)
    return next(filter(_may_be_opened, around), path)


def _lies_in(path: Path, places: Iterable[Path]) -> bool:
    return any(path.is_relative_to(each) for each in places)


def _temporary() -> frozenset[Path]:
    """Where what comes as bytes lies, under names that nobody can guess, or list. Raises NoWorkers
    where there is no such place, as in a container that writes nowhere."""
    try:
        folder = Path(tempfile.gettempdir()).resolve()
    except FileNotFoundError:
        raise NoWorkers(
            "No folder for temporary files can be written: free some space, or name a folder in "
            "TMPDIR"
        ) from None
    return frozenset() if is_broad(folder) else frozenset({folder})


def _libraries() -> Iterable[str]:
    python = (sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values())
    linked = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    for each in filter(None, dict.fromkeys([*python, *sys.path, *linked])):
        place = Path(each).resolve()
        if not is_broad(place):
            yield str(place)
