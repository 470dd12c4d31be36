"""Ctrl-C at any moment leaves a journal that everybody else can use, and nothing half written."""

from __future__ import annotations

from pathlib import Path

import pytest
from interrupting import require_survives

PROGRAM = """
    import sys
    from interrupting import attack
    from palprep.journal.entries.bodies import Polled
    from palprep.journal.entries.bodies import Snapshot
    from palprep.journal.store import Journal

    path, handler, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
    body = Polled(snapshot=Snapshot(id="v", status="started"))
    began, written, looked = 0, 0, 0

    with Journal(path, lock=True, create=True) as journal:

        def work():
            global began, written
            journal.newest()
            journal.creations()
            began += 1
            journal.append(body, person="ada", key="work")
            written += 1

        def look():
            global looked
            journal.append(body, person="bob", key="look")
            looked += 1

        attack(work, look, times, handler=handler, within_s=1.5e-3)
    with Journal(path, lock=True) as again:
        found = [entry.key for entry in again.entries(Polled)]
    assert looked == found.count("look") == times, (looked, times)
    assert 0 < written <= found.count("work") <= began, (written, began)
    assert len(found) == found.count("look") + found.count("work")
"""


@pytest.mark.parametrize("handler", ["own", "python"])
def test_no_interruption_leaves_it_locked_or_half_written(tmp_path: Path, handler: str) -> None:
    require_survives(PROGRAM, tmp_path / "j.sqlite", handler, "600")
