"""The files that a command line names: paths as they are, folders with all that is in them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from palprep.errors import UsageError


class Given(NamedTuple):
    """A file to read; or a path at which nothing can be read, and why."""

    path: Path
    problem: str | None = None


class Inputs(NamedTuple):
    """Everything that was named, in its order, and what was passed over in folders."""

    given: tuple[Given, ...]
    passed_over: tuple[Path, ...]

    @property
    def files(self) -> list[Path]:
        """The files to read."""
        return [each.path for each in self.given if each.problem is None]

    @property
    def problems(self) -> list[str]:
        """Why paths cannot be read, one sentence each."""
        return [each.problem for each in self.given if each.problem is not None]


def inputs(paths: Iterable[Path]) -> Inputs:
    """Look for the files. In folders, and in the folders below them, those are taken that hold
    or promise media; hidden ones are not.
    """
    given: list[Given] = []
    passed_over: list[Path] = []
    for path in paths:
        if path.is_dir():
            found, others = _in_folder(path)
            nothing = Given(path, f"{path} is a folder without images, audio or videos.")
            given += [Given(each) for each in found] or [nothing]
            passed_over += others
        elif os.path.lexists(path):
            given.append(Given(path))
        else:
            given.append(Given(path, _not_there(path)))
    return Inputs(tuple(given), tuple(passed_over))


def require_there(path: Path) -> None:
    """Raise UsageError for a path at which there is nothing."""
    if not os.path.lexists(path):
        raise UsageError(_not_there(path))


def _in_folder(folder: Path) -> tuple[list[Path], list[Path]]:
    """The files with media, and the others."""
    from palprep.batch.roles import kind_of

    sorted_out: dict[bool, list[Path]] = {True: [], False: []}
    for path in _walk(folder):
        sorted_out[kind_of(path) is not None].append(path)
    return sorted_out[True], sorted_out[False]


def _walk(folder: Path) -> Iterator[Path]:
    for where, below, names in os.walk(folder):
        below[:] = sorted(each for each in below if not each.startswith("."))
        for name in sorted(names):
            # Also what is no regular file: a pipe that is named like media is refused, and said so.
            if not name.startswith("."):
                yield Path(where, name)


def _not_there(path: Path) -> str:
    from palprep.media.given import address_of

    address = address_of(path)
    if address is not None:
        return f"{address} is an address, and no file: download it first."
    try:
        names = [each.name for each in path.parent.iterdir()]
    except OSError:
        names = []
    near = difflib.get_close_matches(path.name, names, n=1)
    hint = f" Did you mean {path.with_name(near[0])}?" if near else " Check the path."
    return f"{path} does not exist.{hint}"
