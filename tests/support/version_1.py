"""A journal as version 1 wrote it: the whole run of one person with one recording.

The rows in version_1.sql were dumped from the journal of such a run (palprep 0.1.0).
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

VOICE_KEY = "voice-afce63f85d33bcc39bd676be99047254"
"""What version 1 called Ada's voice from jane-carter/recording.m4a, in its own sandbox."""

VOICE_ID = "vec250cec149a"

_LAST = 9
_DUMP = Path(__file__).with_name("version_1.sql")


def write_journal(
    path: Path, *more: tuple[str, str | None, dict[str, Any]], upto: int = _LAST
) -> None:
    """Write the rows up to number ``upto``, then ``more``: kind, key and body."""
    lines = _DUMP.read_text("utf-8").split("\n")
    later = tuple(f'INSERT INTO "entry" VALUES({n},' for n in range(upto + 1, _LAST + 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript("\n".join(line for line in lines if not line.startswith(later)))
    for kind, key, body in more:
        connection.execute(
            "INSERT INTO entry (at, person, kind, key, body) VALUES (?, ?, ?, ?, ?)",
            ("2026-11-21T05:00:00.000+00:00", "ada", kind, key, json.dumps(body)),
        )
    connection.commit()
    connection.close()
