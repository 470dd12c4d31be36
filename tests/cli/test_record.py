"""palprep record and review: a page that answers until it is closed or interrupted."""

from __future__ import annotations

import signal
from pathlib import Path

import httpx
import pytest

from palprep.cli.record import _go_on
from palprep.errors import UsageError
from palprep.journal import Journal
from palprep.journal.entries.bodies import PersonEnded, PersonNames, RunStarted
from palprep.journal.runs import PersonOutcome

from .conftest import Palprep, environment, started


@pytest.mark.parametrize("agrees", [True, False])
@pytest.mark.parametrize("ends", ["page", signal.SIGTERM])
def test_it_says_where_it_is_and_what_comes_next(
    tmp_path: Path, ends: str | signal.Signals, *, agrees: bool
) -> None:
    asked = ("people/ada-lovelace", "--port", "0", "--no-browser", "--profile", "core-3")
    place, into = "palprep-out", "palprep-out"
    if ends == "page":
        place, into = "out/shard-1-of-2", "out --shard 1/2"
    asked += ("--into", place)
    with started("record", *asked, cwd=tmp_path, env=environment()) as process:
        ready, link = (process.stdout.readline().strip() for _ in range(2))
        origin = ready.removeprefix("palprep record ready on ")
        assert link.startswith(f"{origin}/")
        sent = {"headers": {"origin": origin}, "trust_env": False, "timeout": 60}
        assert "Ada Lovelace" in httpx.get(link, **sent).text
        if agrees:
            assert httpx.post(f"{link}agree", content="Ada Lovelace", **sent).is_success
        if isinstance(ends, signal.Signals):
            process.send_signal(ends)
        else:
            httpx.post(f"{link}done", **sent)
        assert process.wait(timeout=60) == 0
        said = process.stderr.read()
    next_command = f"palprep run people --only ada-lovelace --into {into} --profile core-3"
    assert (tmp_path / "people/ada-lovelace").exists() is agrees
    if agrees:
        assert said == f"Next: {next_command}\n"
    else:
        assert said == "Nobody was recorded, and people/ada-lovelace was not made\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("people/.hidden",), "must not start with a dot"),
        (("file",), "file is no person's folder"),
        (("people",), "people holds people: name the folder of one, people/NAME"),
        (("people/ada", "--language", "xx"), "choose one of de, en, es"),
        (("people/ada", "--port", "99999"), "--port"),
    ],
)
def test_what_cannot_be_meant_is_usage(
    palprep: Palprep, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "people/ada").mkdir(parents=True)
    (tmp_path / "people/ada/person.toml").touch()
    ran = palprep("record", *arguments, "--no-browser")
    assert ran.code == 2
    assert says in ran.err
    assert not (tmp_path / "people/ada/.takes").exists()


def test_a_review_ends_with_how_everybody_stands(tmp_path: Path) -> None:
    ada = PersonNames(slug="ada", name="Ada", full_name="Ada")
    about = {"target": "http://x", "profile": "core-4", "dry_run": False, "palprep_version": "0"}
    with Journal.of(tmp_path / "out", create=True) as journal:
        journal.append(RunStarted(people=(ada,), **about))
        unclear = PersonOutcome.needs_answer("Which file?", blocked_by=("which_file",))
        journal.append(PersonEnded(outcome=unclear), person="ada")
    asked = ("review", "out", "--port", "0", "--no-browser")
    with started(*asked, cwd=tmp_path, env=environment()) as process:
        ready, link = (process.stdout.readline().strip() for _ in range(2))
        assert ready == f"palprep review ready on {link.rsplit('/', 2)[0]}"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 1
        assert process.stderr.read().startswith("1 person: 1 needs an answer\nNext: ")


def test_a_review_that_cannot_go_on_without_a_key_asks_for_it_first(
    palprep: Palprep, tmp_path: Path
) -> None:
    about = {"target": "https://service.example", "profile": "core-4", "palprep_version": "0"}
    with Journal.of(tmp_path / "out", create=True) as journal:
        journal.append(RunStarted(people=(), source="/people", dry_run=False, **about))
    ran = palprep("review", "out", "--port", "0", "--no-browser")
    said = "palprep: No API key for https://service.example: set PALPREP_API_KEY\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)


def test_a_review_goes_on_as_the_last_run_did(palprep: Palprep, tmp_path: Path) -> None:
    last = RunStarted(
        people=(), target="http://service", profile="own.toml", dry_run=True, without_consent=True,
        source="/people", palprep_version="0",
    )  # fmt: skip
    command = _go_on(tmp_path / "all" / "shard-2-of-4", None, last)
    assert command[3:] == [
        *("run", "/people", "--into", str(tmp_path / "all"), "--shard", "2/4"),
        *("--profile", "own.toml", "--base-url", "http://service"),
        *("--dry-run", "--without-consent"),
    ]
    embedded = last.model_copy(update={"target": "embedded sandbox"})
    assert "--base-url" not in _go_on(tmp_path, None, embedded)
    assert "http://other" in _go_on(tmp_path, "http://other", embedded)
    with pytest.raises(UsageError, match="came from a program"):
        _go_on(tmp_path, None, last.model_copy(update={"source": None}))
    ran = palprep("review", tmp_path / "nothing", "--no-browser")
    assert (ran.code, "does not exist" in ran.err) == (2, True)
