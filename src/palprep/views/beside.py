"""Addresses of files that lie with a page: what a reader can open, play and hand on."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from palprep.consent.facts import ConsentFacts


@dataclass(frozen=True)
class Beside:
    """The files of a run's output ``folder``, as seen from a page in ``page_folder`` within it."""

    folder: Path
    page_folder: Path

    def link(self, file: str | Path) -> str | None:
        """The address of a file, relative to the page.

        None for a file that is not there, or lies outside the folder: a page that is handed on
        with its folder must go on working.
        """
        if not Path(file).is_file():
            return None  # Asked first: a link that leads to itself cannot be resolved.
        path, folder = Path(file).resolve(), self.folder.resolve()
        if not path.is_relative_to(folder):
            return None
        return address(path, self.page_folder.resolve())

    def link_to_statement(self, file: str | Path, facts: ConsentFacts) -> str | None:
        """The address of the statement in a file: a media fragment (W3C Media Fragments URI 1.0)
        where its times are known. None as for :meth:`link`.
        """
        link = self.link(file)
        if link is None or facts.starts_at is None or facts.ends_at is None:
            return link
        return f"{link}#t={facts.starts_at:g},{facts.ends_at:g}"


def address(path: Path, folder: Path) -> str:
    """The address of a file, relative to a page in ``folder``."""
    # Bytes: a name need not be text. And "./", since "a:b.mp4" would be taken for a scheme.
    return f"./{quote(os.fsencode(os.path.relpath(path, folder)))}"
