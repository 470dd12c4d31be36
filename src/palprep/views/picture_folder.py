"""Drawn pictures kept as files: each is drawn once, however often a page is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from palprep.errors import PalprepError
from palprep.fixes.output import atomic_output
from palprep.preflight.asset import Asset
from palprep.views.asset_pictures import Picture, pictures_of
from palprep.views.beside import address
from palprep.views.embedded import Embedded, inline

PICTURES_NAME = "pictures"
"""Of the folder in a run's output."""

_MIMES = {".jpg": "image/jpeg", ".webp": "image/webp", ".svg": "image/svg+xml"}

Show = Callable[[Picture], str | None]
"""The address of a picture for a ``src``; None where there is none, or none any more."""


def drawn_now(picture: Picture) -> str | None:
    """The picture itself as an address, kept nowhere."""
    return inline(picture.draw)


@dataclass(frozen=True)
class PictureFolder:
    """Pictures by their names in the folder ``place``."""

    place: Path

    def kept(self, picture: Picture) -> Path | None:
        """The file of a picture, drawn now unless it is there; None where it cannot be drawn.

        Raises OutputUnwritable.
        """
        path = self.place / picture.name
        if path.is_file():
            return path
        try:
            drawn = picture.draw()
        except (PalprepError, OSError):
            return None
        if drawn is None:
            return None
        with atomic_output(path, lasting=False) as temporary:
            temporary.write_bytes(drawn.data)
        return path

    def keep_all(self, asset: Asset) -> None:
        """Draw what there is to see of a file, unless it is kept already.

        Raises OutputUnwritable.
        """
        for picture in pictures_of(asset).all():
            self.kept(picture)

    def embedded(self, picture: Picture) -> str | None:
        """The picture itself as an address, for a page that must stand by itself."""
        path = self.kept(picture)
        if path is None:
            return None
        mime = _MIMES[path.suffix]
        return inline(lambda: Embedded(path.read_bytes(), mime))

    def linked_from(self, folder: Path) -> Show:
        """Addresses of the files, relative to a page in ``folder``."""

        def show(picture: Picture) -> str | None:
            path = self.kept(picture)
            return None if path is None else address(path, folder)

        return show
