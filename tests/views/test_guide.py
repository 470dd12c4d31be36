"""The recording guide: the same in every language, and true of the profile."""

from __future__ import annotations

import re
import tomllib
from importlib import resources

import pytest

from palprep.errors import UsageError
from palprep.rules import load_profile
from palprep.values import Role
from palprep.views.guide import guide_page
from palprep.views.html import languages_of

STATEMENT = "I, Ada Lovelace, consent."


def shape(value):
    """Keys, lengths of lists, and the places of each text."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    return sorted(re.findall(r"\{\w+\}", value)) if isinstance(value, str) else value


def words(language):
    file = resources.files("palprep.views").joinpath("guides", f"{language}.toml")
    return tomllib.loads(file.read_text("utf-8"))


def page(**changed):
    given = {"statement": STATEMENT, "spoken": "en", "profile": load_profile("core-4"), **changed}
    return guide_page("Ada Lovelace", **given)


@pytest.mark.parametrize("language", languages_of("guides"))
def test_every_language_says_the_same_and_all_of_it_is_shown(language):
    assert shape(words(language)) == shape(words("en"))
    shown = page(language=language)
    assert f'<html lang="{language}">' in shown
    assert STATEMENT in shown
    for number in ("512", "180", "120", "1080", "750", " 25 "):
        assert number in shown
    assert "24.5" not in shown
    assert "{" not in re.sub(r"<style>.*?</style>", "", shown, flags=re.DOTALL)


def test_a_statement_in_another_language_is_marked_as_such():
    shown = page(language="es", statement="Ich, Ada, stimme zu.", spoken="de")
    assert '<blockquote dir="auto" lang="de">Ich, Ada' in shown
    assert "inglés" not in shown


def test_a_limit_that_the_profile_does_not_have_is_not_told():
    profile = load_profile("core-4")
    role = {k: v for k, v in profile.for_role(Role.FACE_IMAGE).items() if k != "image_resolution"}
    own = profile.model_copy(update={"limits": {**profile.limits, Role.FACE_IMAGE: role}})
    assert "on the shorter side" in page()
    assert "on the shorter side" not in page(profile=own)


def test_what_a_name_brings_is_text():
    profile = load_profile("core-4")
    about = {"statement": "<b>I</b>", "spoken": "en", "profile": profile}
    shown = guide_page("<script>x</script>{title}", **about)
    assert "<script" not in shown
    assert "&lt;script&gt;x&lt;/script&gt;{title}" in shown
    assert "&lt;b&gt;I&lt;/b&gt;" in shown


def test_an_unknown_language_is_told_with_those_that_there_are():
    with pytest.raises(UsageError, match="choose one of de, en, es"):
        page(language="../en")
