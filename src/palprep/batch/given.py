"""What a run was given becomes people: a folder, a part of a bucket, a manifest, or its rows."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterable
from pathlib import Path

from palprep.batch.bucket_folder import people_in_bucket
from palprep.batch.manifest import people_of_manifest, people_of_rows
from palprep.batch.manifest_files import is_manifest
from palprep.batch.people import Given, find_people
from palprep.batch.row import ManifestRow
from palprep.storage.clouds import is_bucket

People = str | os.PathLike[str] | Iterable[ManifestRow]
"""A folder with one subfolder for each person, here or in a bucket; a manifest; or the rows of
one."""


def people_given(people: People, into: Path, at: dt.datetime) -> Given:
    """Everybody, as seen ``at`` this time, which is now. No media is fetched.

    The folder ``into`` takes what must be read of a bucket. Raises UsageError where there
    is nobody, ManifestError with all mistakes of a manifest, StorageError for a bucket that cannot
    be read.
    """
    if not isinstance(people, str | os.PathLike):
        return people_of_rows(people, at)
    if isinstance(people, str) and is_bucket(people):
        return people_in_bucket(people, into)
    path = Path(people)
    if is_manifest(path) and path.is_file():
        return people_of_manifest(path, at)
    return find_people(path, at)
