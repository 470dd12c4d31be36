"""The statements of a run: palprep's template, and what people bring along."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from palprep.batch.people.folder import find_people
from palprep.batch.people.person import read_people
from palprep.batch.work.consent import speaker_of, statements_of
from palprep.consent.wording import required_statement
from palprep.journal.entries.bodies import SandboxStatement
from palprep.preflight.values import kinds_of


@pytest.fixture
def people(folder):
    """Jane brings a statement along, Ada names one that is not there."""
    for slug, names in {"jane": "own.txt", "ada": "none.txt"}.items():
        (folder / slug).mkdir()
        (folder / slug / "person.toml").write_text(
            f'full_name = "Jane Carter"\nstatement = "{names}"'
        )
    (folder / "jane" / "own.txt").write_text("I, Jane Carter, agree.")
    return read_people(find_people(folder).people, kinds_of)


def test_the_embedded_sandbox_takes_the_statements_that_people_bring_along(people):
    template, own = statements_of(people)
    assert template == SandboxStatement(text=required_statement())
    assert own == SandboxStatement(text="I, {full_name}, agree.")


def test_a_name_is_listened_for_as_it_is_spoken(folder, light_people):
    (folder / "wei").mkdir()
    shutil.copy(light_people / "jane-carter/consent.mp4", folder / "wei/training.mp4")
    (folder / "wei" / "person.toml").write_text('full_name = "王伟"\nspoken_as = "Wang Wei"')
    [wei] = read_people(find_people(folder).people, kinds_of)
    speaker = speaker_of(wei)
    assert speaker is not None
    assert (speaker.full_name, speaker.spoken_as) == ("王伟", "Wang Wei")
    assert "I, Wang Wei, am" in speaker.required.text


def test_whoever_is_written_to_in_german_says_palpreps_statement_in_english(folder, light_people):
    for slug, own in {"eva": "", "uwe": 'statement = "own.txt"'}.items():
        (folder / slug).mkdir()
        shutil.copy(light_people / "jane-carter/consent.mp4", folder / slug / "training.mp4")
        (folder / slug / "person.toml").write_text(f'language = "de"\n{own}')
    (folder / "uwe" / "own.txt").write_text("Ich, {full_name}, willige ein.")
    people = read_people(find_people(folder).people, kinds_of)
    assert [speaker_of(each).language for each in people] == ["en", "de"]
    assert [each.language for each in people] == ["de", "de"]
    assert [each.language for each in statements_of(people)] == ["en", "de"]


def test_one_model_listens_for_every_statement(people):
    own = Path("a-model-of-the-users-own")
    assert [each.model for each in statements_of(people, own)] == [own, own]
