"""The choices that `best` makes, by the facts that are kept."""

import csv

from research.evaluation.best import FACTS, first_choices


def test_most_frames_that_rank_first_would_be_taken():
    with FACTS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    taken, people = first_choices(rows)
    assert people == len(rows) // 6
    assert taken / people >= 0.75
    assert first_choices(rows, "before")[0] < taken
