"""The required statements."""

from __future__ import annotations

import pytest

from palprep.consent.wording.statement import (
    fill_statement,
    read_statement,
    required_statement,
    statement_for,
)
from palprep.errors import UsageError


def test_the_default_statement_has_a_place_for_the_name():
    text = fill_statement(required_statement(), "  Ada   Lovelace ")
    assert text.startswith("I, Ada Lovelace, am currently speaking")
    assert "{" not in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("listed", "spelt"),
    [
        ("JANE CARTER", "Jane Carter"),
        ("jane o'neill-smith", "Jane O'Neill-Smith"),
        ("Jane CARTER", "Jane Carter"),
        ("Jane McDonald III", "Jane McDonald III"),
        ("JRR van der Berg", "JRR van der Berg"),
        ("\u738b\u4f1f", "\u738b\u4f1f"),
    ],
)
def test_a_name_is_listened_for_as_a_text_has_it(listed, spelt):
    """Lists and passports have names in capitals, which no model expects of what it hears."""
    required = statement_for(listed, "I, {full_name}, agree.", language="en")
    assert required.text == f"I, {spelt}, agree."
    assert (required.said_name, required.full_name) == (spelt, listed)
    assert len(required.name) == len(listed.split())


@pytest.mark.parametrize("language", ["xx", "", "../en", "EN.toml"])
def test_a_language_without_a_statement_is_said(language):
    with pytest.raises(
        UsageError, match="give the text that your service demands, with --statement FILE"
    ):
        required_statement(language)


@pytest.mark.parametrize("language", ["German", "DE", "de-DE", "", "de\n"])
def test_what_is_no_code_of_a_language_is_said_before_any_model_is_asked(language):
    """A multilingual model would not know it either."""
    with pytest.raises(UsageError, match=r"must be two letters, as in de \(ISO 639-1\), not "):
        statement_for("Ann", "Ich, {full_name}, willige ein.", language=language)


@pytest.mark.parametrize(("name", "sounds"), [("ü" * 101, None), ("Ann", "An" * 51)])
def test_a_name_that_no_model_can_take_in_is_said_before_any_is_asked(name, sounds):
    with pytest.raises(UsageError, match="A name of more than 100 characters"):
        statement_for(name, None, language="en", spoken_as=sounds)


def test_how_a_name_sounds_is_no_name():
    with pytest.raises(UsageError, match="full name"):
        statement_for("", "I, {full_name}, agree.", language="en", spoken_as="Jane Doe")


@pytest.mark.parametrize("name", ["", "  ", "123"])
def test_a_name_is_needed(name):
    with pytest.raises(UsageError, match="full name"):
        fill_statement("I, {full_name}, agree.", name)


def test_a_users_statement_is_plain_text(tmp_path):
    plain = tmp_path / "mine.txt"
    plain.write_text("I, {full_name},\nagree.\n", "utf-8")
    assert fill_statement(read_statement(plain), "Ada") == "I, Ada, agree."
    # As Windows' own editor saves it.
    plain.write_text("I, {full_name}, agree.", "utf-8-sig")
    assert fill_statement(read_statement(plain), "Ada") == "I, Ada, agree."


def test_a_statement_may_hold_the_very_name_in_place_of_the_placeholder():
    text = "I, ada  LOVELACE, agree."
    assert fill_statement(text, "Ada Lovelace") == "I, Ada Lovelace, agree."


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I, Sean O\u2019Brien, agree.", "Sean O'Brien"),
        ("I, Jose\u0301 Pen\u0303a, agree.", "Jos\u00e9 Pe\u00f1a"),
        ("I, Jane\nDoe, agree.", "Jane  Doe"),
        ("I, Jane O'Neil's, agree.", "Jane O'Neil's"),
    ],
)
def test_the_very_name_may_be_typed_in_another_way(text, name):
    assert len(statement_for(name, text, language="en").name) == 2
    spoken = statement_for(name, text, language="en", spoken_as="Shayn Doh")
    assert spoken.text == "I, Shayn Doh, agree."


@pytest.mark.parametrize("apostrophe", ["'", "\u2019"])
def test_the_name_may_own_what_follows(apostrophe):
    required = statement_for(
        "Jane Doe", f"{{full_name}}{apostrophe}s consent, in full.", language="en"
    )
    assert [word.shown for word in required.name_words] == ["Jane", f"Doe{apostrophe}s"]


@pytest.mark.parametrize("text", ["I agree.", "I, Ada Lovelacey, agree.", "I, Charles, agree."])
def test_a_statement_that_names_nobody_or_somebody_else_is_refused(text):
    with pytest.raises(UsageError, match=r"nobody called Ada Lovelace: write \{full_name\}"):
        fill_statement(text, "Ada Lovelace")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"", "empty"),
        ("a.txt", b"\xff\xfe\x00", "cannot be read"),
        ("a.mp4", b"\xff" * 70_000, "has more than 65,536 bytes"),
    ],
)
def test_a_users_statement_that_cannot_be_meant_is_refused(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        read_statement(path)


def test_a_statement_that_is_not_there_is_told_in_words(tmp_path):
    with pytest.raises(UsageError, match=r"cannot be read as text: No such file or directory$"):
        read_statement(tmp_path / "own.txt")
