"""Facts that a test session measures once, for tests of what is made of them.

A file of the same bytes, in the same role and listened to for the same words, has the same facts.
Processes that share the folder take them from each other. Tests of measuring, of limits and of
workers do not use this.
"""

from __future__ import annotations

import fcntl
import hashlib
from pathlib import Path

from palprep import facts as door
from palprep.facts import Facts, probe


def measure_once(folder: str) -> None:
    """From now on this process looks into the folder before it measures a file."""

    def remembered(source, role, toolkit, *, limits, speaker=None, quick=False) -> Facts:
        asked = (source.sha256, source.type, role, limits, speaker, quick)
        kept = Path(folder, hashlib.sha256(repr(asked).encode()).hexdigest()[:24])
        # Of those who share the folder one measures, while the others wait.
        with kept.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not kept.exists():
                facts = probe(source, role, toolkit, limits=limits, speaker=speaker, quick=quick)
                text = facts.model_dump_json(round_trip=True)
                assert Facts.model_validate_json(text) == facts
                kept.write_text(text, encoding="utf-8")
        facts = Facts.model_validate_json(kept.read_bytes())
        return facts.model_copy(update={"file": source.facts})

    door.probe = remembered
