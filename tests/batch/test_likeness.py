"""Portrait and consent video of one person must show one face."""

from __future__ import annotations

from likeness import judge_likeness
from remember import Remembering

from palprep.batch.engines.tasks import compare_faces
from palprep.batch.runner import run
from palprep.batch.work.context import RunOptions
from palprep.journal import FacesCompared, Journal


class Counting(Remembering):
    """Counts comparisons, and can answer them with another similarity."""

    def __init__(self, cache, similarity=None):
        super().__init__(cache)
        self.similarity = similarity
        self.compared = 0

    def run(self, function, /, *args, **kwargs):
        if function is compare_faces:
            self.compared += 1
            if self.similarity is not None:
                return (judge_likeness("portrait.jpg", "consent.mp4", self.similarity),)
        return super().run(function, *args, **kwargs)


def go(folder, out, connection, engine):
    options = RunOptions(connection=connection, engine=engine)
    [person] = run(folder, into=out, options=options).people
    return person


def test_the_same_person_goes_on_and_is_compared_once(add, folder, tmp_path, connection, cache):
    add("jane-carter", portrait=True, consent=True)
    engine = Counting(cache)
    out = tmp_path / "out"
    assert go(folder, out, connection, engine).status == "done"
    assert go(folder, out, connection, engine).status == "done"
    assert engine.compared == 1
    with Journal.of(out) as journal:
        [entry] = journal.entries(FacesCompared)
    assert entry.body.checks[0].outcome == "pass"


def test_another_face_is_refused_before_anything_is_created(
    add, folder, tmp_path, connection, cache, log
):
    add("jane-carter", portrait=True, consent=True)
    person = go(folder, tmp_path / "out", connection, Counting(cache, similarity=0.1))
    assert person.status == "refused"
    assert "portrait.jpg and consent.mp4 show different people" in person.reasons[0]
    assert log.creates == {}
