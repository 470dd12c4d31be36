"""The files of one person must show one face and hold one voice."""

from __future__ import annotations

import shutil

import pytest
from likeness import judge_likeness, judge_voices
from remember import Remembering

from palprep.batch.engines.tasks import compare_people
from palprep.batch.runner import run
from palprep.batch.work.context import RunOptions
from palprep.journal import Journal
from palprep.journal.entries.bodies import FacesCompared
from palprep.preflight import prepare, same_person
from palprep.values import Outcome


class Counting(Remembering):
    """Counts comparisons, and can answer them with other checks."""

    def __init__(self, cache, *checks):
        super().__init__(cache)
        self.checks = checks
        self.compared = 0

    def run(self, function, /, *args, **kwargs):
        if function is compare_people:
            self.compared += 1
            if self.checks:
                return self.checks
        return super().run(function, *args, **kwargs)


def go(folder, out, connection, engine, **more):
    options = RunOptions(connection=connection, engine=engine, **more)
    [person] = run(folder, into=out, options=options).people
    return person


def test_the_same_person_goes_on_and_is_compared_once(add, folder, tmp_path, connection, cache):
    add("jane-carter", portrait=True, consent=True)
    engine = Counting(cache)
    out = tmp_path / "out"
    assert go(folder, out, connection, engine).status == "voice_only"
    assert go(folder, out, connection, engine).status == "voice_only"
    assert engine.compared == 1
    with Journal.of(out) as journal:
        [entry] = journal.entries(FacesCompared)
    assert entry.body.checks[0].outcome == "pass"


class TwoFaces(Remembering):
    """Finds another person in each other portrait."""

    def run(self, function, /, *args, **kwargs):
        found = super().run(function, *args, **kwargs)
        if function is same_person:
            found = tuple(each.model_copy(update={"outcome": Outcome.FAIL}) for each in found)
        return found


@pytest.fixture
def two_portraits(add, light_people):
    place = add("ada", portrait=True, settings='stock_voice = "gloria"')
    (place / "portrait.heic").rename(place / "IMG_1.heic")
    shutil.copy(light_people / "anna-miller/portrait.png", place / "IMG_2.png")
    return place


@pytest.mark.parametrize("known_by", ["a video", "no stock voice"])
def test_portraits_of_two_people_are_no_question_where_nothing_depends_on_it(
    two_portraits, folder, tmp_path, connection, cache, light_people, known_by
):
    if known_by == "a video":
        shutil.copy(light_people / "jane-carter/consent.mp4", two_portraits / "VID_1.mp4")
    else:
        (two_portraits / "person.toml").unlink()
    person = go(folder, tmp_path / "out", connection, TwoFaces(cache), dry_run=True)
    assert any("is the portrait: it is fitter than" in each for each in person.reasons)
    assert not any("Which file" in each for each in person.reasons)


def test_portraits_of_two_people_are_a_question(two_portraits, folder, tmp_path, connection, cache):
    """The fitter one may be of a colleague, of whom a replica would be made."""
    place, out = two_portraits, tmp_path / "out"
    person = go(folder, out, connection, TwoFaces(cache))
    assert person.status == "needs_answer"
    assert person.reasons[0].startswith("Which file is the face-image: IMG_")
    assert "(the fittest), IMG_" in person.reasons[0]
    assert "(shows somebody else)? Keep one" in person.reasons[0]
    settings = 'stock_voice = "gloria"\nfiles.face-image = "IMG_2.png"'
    (place / "person.toml").write_text(settings, encoding="utf-8")
    assert go(folder, out, connection, TwoFaces(cache)).status == "done"


def test_what_one_profile_found_alike_is_compared_again_for_another_profile(
    add, folder, tmp_path, connection, cache
):
    add("jane-carter", portrait=True, consent=True)
    lax = tmp_path / "lax.toml"
    lax.write_text('extends = "core-4"\ndisable = ["same_person"]\n', encoding="utf-8")
    person = go(folder, tmp_path / "out", connection, Counting(cache), profile=str(lax))
    assert person.status == "voice_only"
    other = judge_likeness("portrait.jpg", "consent.mp4", 0.1)
    person = go(folder, tmp_path / "out", connection, Counting(cache, other))
    assert person.status == "redo"


def test_another_face_is_refused_before_anything_is_created(
    add, folder, tmp_path, connection, cache, log
):
    add("jane-carter", portrait=True, consent=True)
    other = judge_likeness("portrait.jpg", "consent.mp4", 0.1)
    person = go(folder, tmp_path / "out", connection, Counting(cache, other))
    assert person.status == "redo"
    assert "portrait.jpg and consent.mp4 show different people" in person.reasons[0]
    assert log.creates == {}


@pytest.mark.parametrize(
    ("similarity", "status", "said"),
    [
        (0.0, "redo", "training.mp4 and consent.mp4 contain the voices of different people"),
        (0.3, "needs_decision", "training.mp4 and consent.mp4 may contain the voices"),
    ],
)
def test_another_voice_is_refused_and_one_that_may_be_another_holds_the_replica(
    add, folder, tmp_path, connection, cache, log, similarity, status, said
):
    add("jane-carter", voice=False, training=True, consent=True)
    voices = judge_voices("training.mp4", "consent.mp4", similarity)
    person = go(folder, tmp_path / "out", connection, Counting(cache, voices))
    assert person.status == status
    assert any(said in reason for reason in person.reasons)
    assert log.creates == {}


@pytest.mark.parametrize(
    ("similarity", "said"),
    [
        (0.45, "training.mp4 and consent.mp4 may show different people"),
        (None, "Same person in training.mp4 and consent.mp4: One of the two files shows no face"),
    ],
)
def test_a_face_that_may_be_another_or_that_none_compared_holds_the_replica(
    add, folder, tmp_path, connection, cache, log, similarity, said
):
    add("jane-carter", voice=False, training=True, consent=True)
    faces = judge_likeness("training.mp4", "consent.mp4", similarity)
    person = go(folder, tmp_path / "out", connection, Counting(cache, faces))
    assert person.status == "needs_decision"
    assert any(said in reason for reason in person.reasons)
    assert log.creates == {}


def test_files_are_told_by_the_names_that_their_owner_gave_them(light_people, tmp_path):
    jane = light_people / "jane-carter"
    prepared = [
        prepare(jane / name, into=tmp_path / name, role=role)
        for name, role in (("portrait.heic", "face-image"), ("consent.mp4", "consent-video"))
    ]
    assert prepared[0].path.name == "portrait.jpg"
    [check] = compare_people(tuple(prepared), "core-4")
    assert check.label.endswith("in portrait.heic and consent.mp4")
    assert check.files == tuple(each.sha256 for each in prepared)
    [split] = compare_people((prepared[0], prepared[0].model_copy(
        update={"path": prepared[1].path})), "core-4")  # fmt: skip
    assert split.label.endswith("in portrait.jpg and consent.mp4")
