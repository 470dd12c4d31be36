"""The progress of a run, and its line in a notebook cell."""

from __future__ import annotations

from palprep.views.terminal import Progress, RunProgress, cell_progress
from palprep.views.terminal.progress import progress_line


def test_the_line_tells_who_is_through_and_what_goes_on() -> None:
    lines: list[str] = []
    progress = RunProgress(lambda progress: lines.append(progress_line(progress)))
    progress(Progress(people=3, person="ada", step="prepare face-image"))
    progress(Progress(people=3, person="bob", step="train voice"))
    progress(Progress(people=3, person="ada", step="end", status="done"))
    progress(Progress(people=3, person="eve", step="end", status="redo"))
    progress(Progress(people=3, person="bob", step="end", status="done"))
    assert lines == [
        "0 of 3 people · ada: prepare face-image",
        "0 of 3 people · ada: prepare face-image; bob: train voice",
        "1 of 3 people · 1 done · bob: train voice",
        "2 of 3 people · 1 redo, 1 done · bob: train voice",
        "3 of 3 people · 1 redo, 2 done",
    ]


def test_outside_of_a_notebook_there_is_none() -> None:
    assert cell_progress() is None
