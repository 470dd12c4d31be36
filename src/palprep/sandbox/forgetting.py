"""What a sandbox that is not running holds of somebody, removed from its data folder."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable
from pathlib import Path

from palprep.sandbox.store import DATABASE, opened

_TOLD = {
    "records": ("id", "body"),
    "jobs": ("payload",),
    "assets": ("name",),
    "requests": ("path", "body"),
    "deliveries": ("url", "body"),
}
"""The tables and columns that tell of records and published files."""


def forget(data: Path, names: Iterable[str]) -> None:
    """Remove all that tells of these ids, callback tags and published files, and their bytes.

    Images that a face check was asked about stand in the log under no name: all of them go.
    """
    if not (data / DATABASE).is_file():
        return
    shutil.rmtree(data / "scratch", ignore_errors=True)
    with contextlib.closing(opened(data / DATABASE)) as db:
        db.execute("PRAGMA secure_delete = ON")
        for name in names:
            for (token,) in db.execute("SELECT token FROM assets WHERE name = ?", (name,)):
                (data / "assets" / token).unlink(missing_ok=True)
            for table, columns in _TOLD.items():
                for column in columns:
                    db.execute(f"DELETE FROM {table} WHERE instr({column}, ?)", (name,))  # noqa: S608
        db.execute("DELETE FROM requests WHERE endpoint LIKE '%validate_image'")
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
