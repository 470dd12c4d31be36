"""palprep guide."""

from __future__ import annotations

from pathlib import Path

from .conftest import Palprep


def test_writes_one_private_page_with_the_words_to_say(palprep: Palprep, tmp_path: Path) -> None:
    into = tmp_path / "new" / "guide.html"
    ran = palprep("guide", "Ada Lovelace", "--into", into, "--language", "es")
    assert ran.code == 0
    assert ran.out == f"{into}\n"
    page = into.read_text("utf-8")
    assert 'lang="en">I, Ada Lovelace, am currently speaking' in page
    assert '<html lang="es">' in page
    assert into.stat().st_mode & 0o777 == 0o600


def test_a_statement_of_the_users_own_is_told(palprep: Palprep, tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("I, {full_name}, say yes.")
    into = tmp_path / "guide.html"
    palprep("guide", "Ada Lovelace", "--into", into, "--statement", own, "--language", "de")
    assert 'lang="de">I, Ada Lovelace, say yes.' in into.read_text("utf-8")


def test_a_statement_is_the_one_for_the_profile(palprep: Palprep, tmp_path: Path) -> None:
    own, into = tmp_path / "own.toml", tmp_path / "guide.html"
    own.write_text("[statements]\ndefault = '{full_name}, no.'\nstudio = '{full_name}, yes.'")
    (tmp_path / "ours.toml").write_text('extends = "core-4"\nname = "studio"')
    profile = tmp_path / "ours.toml"
    palprep("guide", "Ada", "--into", into, "--statement", own, "--profile", profile)
    assert "Ada, yes." in into.read_text("utf-8")


def test_what_cannot_be_written_is_told(palprep: Palprep, tmp_path: Path) -> None:
    unknown = palprep("guide", "Ada", "--into", tmp_path / "a.html", "--language", "xx")
    assert (unknown.code, "choose one of de, en, es" in unknown.err) == (2, True)
    assert palprep("guide", "...", "--into", tmp_path / "a.html").code == 2
    assert not (tmp_path / "a.html").exists()


def test_a_file_that_is_no_page_is_not_replaced(palprep: Palprep, tmp_path: Path) -> None:
    portrait = tmp_path / "portrait.png"
    portrait.write_bytes(b"a portrait")
    ran = palprep("guide", "Ada Lovelace", "--into", portrait)
    assert (ran.code, ran.out, "portrait.html" in ran.err) == (2, "", True)
    assert portrait.read_bytes() == b"a portrait"
