"""How words sound."""

from __future__ import annotations

import pytest

from palprep.consent.wording.words import beyond_latin, keys_of, similarity, sounds, split_words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("phone", "fone"),
        ("Doe", "Dough"),
        ("Jane", "Jayne"),
        ("Catherine", "Katherine"),
        ("Knight", "Night"),
        ("Łukasz", "Wukasz"),
        ("Bjørn", "Bjorn"),
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


def test_names_in_another_script_are_their_letters():
    assert similarity("王伟", "王伟") == 1.0
    assert similarity("王伟", "李娜") == 0.0
    assert similarity("Дмитрий", "Дмитрия") > 0.5
    assert similarity("Дмитрий", "Dmitri") == 0.0


@pytest.mark.parametrize(("one", "other"), [("मीना", "मनु"), ("สมชาย", "สมชยา"), ("தமிழ்", "தமழ")])
def test_vowel_signs_are_part_of_a_name(one, other):
    assert similarity(one, other) < 0.7
    assert keys_of(split_words(one)) == one


@pytest.mark.parametrize(
    ("one", "other"), [("مُحَمَّد", "محمد"), ("שָׁלוֹם", "שלום"), ("José", "Jose\u0301")]
)
def test_points_that_are_mostly_left_out_are_not(one, other):
    assert similarity(one, other) == 1.0
    assert keys_of(split_words(one)) == keys_of(split_words(other))


@pytest.mark.parametrize(
    ("text", "beyond"),
    [
        ("王伟", True),
        ("Дмитрий", True),
        ("محمد", True),
        ("Ada 王", True),
        ("Siobhán Ó Briain", False),
        ("M\N{FEMININE ORDINAL INDICATOR} José", False),
        ("Małgorzata Wójcik-Ðorđević", False),
        ("Ka\N{MODIFIER LETTER TURNED COMMA}iulani O'Neill 3", False),
        ("", False),
    ],
)
def test_letters_beyond_the_latin_ones(text, beyond):
    assert beyond_latin(text) is beyond


def test_nothing_sounds_only_like_nothing():
    assert similarity("", "") == 1.0
    assert similarity("Jane", "") == 0.0
