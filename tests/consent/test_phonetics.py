"""How words sound."""

from __future__ import annotations

import pytest

from palprep.consent.words import similarity, sounds


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("phone", "fone"),
        ("Doe", "Dough"),
        ("Jane", "Jayne"),
        ("Catherine", "Katherine"),
        ("Knight", "Night"),
    ],
)
def test_spellings_of_one_sound_are_the_same(one, other):
    assert sounds(one) == sounds(other)


@pytest.mark.parametrize(
    ("name", "like", "unlike"),
    [
        ("Stephen Smythe", "Steven Smith", "Robert Miller"),
        ("Ada Lovelace", "Ada Lovelies", "Mary Shelley"),
        ("Kowalski", "Covalsky", "Nguyen"),
    ],
)
def test_a_name_is_closer_to_its_sound_than_to_another_name(name, like, unlike):
    assert similarity(name, like) > 0.7
    assert similarity(name, unlike) < 0.6


def test_nothing_sounds_only_like_nothing():
    assert similarity("", "") == 1.0
    assert similarity("Jane", "") == 0.0
