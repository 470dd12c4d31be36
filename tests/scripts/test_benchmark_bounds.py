"""The table of what benchmarks measured, and of what they want."""

from __future__ import annotations

import importlib

import pytest


@pytest.fixture
def scripts(checkout, monkeypatch):
    for folder in ("scripts", "benchmarks"):
        monkeypatch.syspath_prepend(str(checkout / folder))
    return importlib.import_module("benchmark_bounds"), importlib.import_module("side_by_side")


@pytest.fixture
def results(scripts, tmp_path, monkeypatch):
    """Two benchmarks of this test's own; where their results are kept."""
    bounds, _ = scripts
    (tmp_path / "one.py").write_text('def f():\n    yield Figure("fast", 1, 1.5)\n')
    (tmp_path / "two.py").write_text('def f():\n    yield Figure("small", 1, 2 * 3, "why")\n')
    monkeypatch.setattr(bounds, "BENCHMARKS", tmp_path)
    monkeypatch.setattr(bounds, "RESULTS", tmp_path / "results")
    return tmp_path / "results"


def test_what_was_kept_stands_beside_what_is_wanted(scripts, results):
    bounds, benchmarks = scripts
    assert [row[:4] for row in bounds.rows()] == [
        ("one.py", "fast", 1.5, ""),
        ("two.py", "small", 6.0, ""),
    ]
    figure = benchmarks.Figure("fast", 1.2345, 1.5, "12 s / 10 s")
    benchmarks.save(results / "one.json", [figure], whole=True)
    measured, wanted = bounds.rows()
    assert measured[:4] == ("one.py", "fast", 1.5, "1.23")
    assert measured.detail.startswith("12 s / 10 s; 2")
    assert "load" in measured.detail
    assert wanted == ("two.py", "small", 6.0, "", "", False)
    table = bounds.table()
    assert "| `one.py` | fast | 1.23 | 1.5 | 12 s / 10 s; 2" in table
    assert "| `two.py`" not in table
    assert table.endswith("\nNot measured yet: small (`two.py`).\n")


def test_what_is_over_its_bound_says_so(scripts, results):
    bounds, benchmarks = scripts
    benchmarks.save(results / "one.json", [benchmarks.Figure("fast", 1.6, 1.5)], whole=True)
    benchmarks.save(results / "two.json", [benchmarks.Figure("small", 6, 6)], whole=True)
    table = bounds.table()
    assert "| `one.py` | fast | **1.6, over** | 1.5 |" in table
    assert "| `two.py` | small | 6 | 6 |" in table
    assert table.startswith("Of 2 figures, **1** are over their bound")
    assert "Not measured" not in table


def test_a_part_replaces_its_own_figures_and_the_whole_all(scripts, results):
    bounds, benchmarks = scripts
    path = results / "one.json"
    before, again, other = (
        benchmarks.Figure("fast", 3, 4),
        benchmarks.Figure("fast", 2, 4),
        benchmarks.Figure("small", 1, 4),
    )
    benchmarks.save(path, [before], whole=True)
    benchmarks.save(path, [other, again], whole=False)
    kept = {row.figure: row.measured for row in bounds.rows() if row.benchmark == "one.py"}
    assert kept == {"fast": "2", "small": "1"}
    benchmarks.save(path, [other], whole=True)
    assert {row.figure for row in bounds.rows() if row.measured} == {"small"}
