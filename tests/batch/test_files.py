"""Prepared files, which lie elsewhere for a worker than for the machine of the run."""

from __future__ import annotations

import json

from palprep.batch.engines.files import moved
from palprep.preflight import prepare


def test_a_prepared_file_in_another_folder_tells_nothing_of_the_first(wav, tmp_path):
    there, here = tmp_path / "worker", tmp_path / "run"
    prepared = prepare(wav, into=there)
    both = prepared.model_copy(update={"consent": prepared})
    assert str(there) in both.model_dump_json()
    home = moved(both, here)
    assert json.dumps(str(there))[1:-1] not in home.model_dump_json()
    for each in (home, home.consent):
        assert each.path == here / prepared.path.name
        assert each.report.path == each.report.facts.file.path == str(each.path)
    assert moved(home, there) == both
