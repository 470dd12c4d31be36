"""What a run was given becomes people: a folder, a manifest, or rows that a script has made."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from palprep.batch.manifest import people_of_manifest, people_of_rows
from palprep.batch.manifest_files import is_manifest
from palprep.batch.people import Given, find_people
from palprep.batch.row import ManifestRow

People = str | os.PathLike[str] | Iterable[ManifestRow]
"""A folder with one subfolder for each person; a manifest; or the rows of one."""


def people_given(people: People) -> Given:
    """Everybody, with files and settings. Nothing is fetched, nothing is written.

    Raises UsageError where there is nobody, ManifestError with all mistakes of a manifest.
    """
    if not isinstance(people, str | os.PathLike):
        return people_of_rows(people)
    path = Path(people)
    return people_of_manifest(path) if is_manifest(path) and path.is_file() else find_people(path)
