"""What is written of strangers' text."""

from __future__ import annotations

import json

from finished_runs import person, run

from palprep.batch.outputs import write_results


def test_results_hold_no_marks_of_direction(tmp_path):
    ada = person(slug="ada", reasons=("\u202eevil\u2028",))
    write_results(tmp_path, run(ada))
    text = (tmp_path / "results.jsonl").read_text(encoding="utf-8")
    assert "\u202e" not in text
    assert "\\u202eevil\\u2028" in text
    assert text.count("\n") == len(text.splitlines()) == 1
    json.loads(text)
