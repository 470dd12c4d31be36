"""The review page in a real browser: questions answered by keys and clicks; the run goes on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from axe import violations
from driven import Driven
from scripted_engine import Scripted
from standings import status

from palprep.batch import RunOptions, run
from palprep.cli.record import _go_on
from palprep.dossier import read_dossier
from palprep.journal import Journal
from palprep.record import LocalSite, Review
from palprep.workers import LocalEngine


class Page(NamedTuple):
    """A run with a doubt and a question, and the browser that shows them."""

    browser: Driven
    review: Review
    site: LocalSite
    people: Path
    out: Path


@pytest.fixture(scope="module")
def page(
    light_people: Path, workers: LocalEngine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Page]:
    home = tmp_path_factory.mktemp("review")
    people, out, media = home / "people", home / "out", light_people / "jane-carter"
    for name, files in (
        ("jane", {"training.mp4": "consent.mp4", "clip.mov": "../anna-miller/recording.mov"}),
        ("bob", {"first.m4a": "recording.m4a", "second <b>.m4a": "recording.m4a"}),
        ("eve", {"a.heic": "portrait.heic", "b.heic": "portrait.heic"}),
        (f"nora-{'x' * 120}", {}),
    ):
        (people / name).mkdir(parents=True)
        for given, source in files.items():
            shutil.copy(media / source, people / name / given)
    (home / "secret").write_text("secret")
    (people / "eve" / "c.heic").symlink_to(home / "secret")
    run(people, into=out, options=RunOptions(engine=Scripted("warn"), dry_run=True))
    review = Review(out, workers, partial(_go_on, out, None))
    browser = Driven(home)
    try:
        with LocalSite("review", review.routes(), port=0) as site:
            yield Page(browser, review, site, people, out)
    finally:
        browser.close()
        review.close()


def test_it_asks_and_is_accessible(page: Page) -> None:
    browser = page.browser
    browser.open(page.site.link)
    told = browser.text()
    for words in (
        "Is this consent given?", "A word was added.", "Which file is the voice",
        "What must be said: “I”",
    ):  # fmt: skip
        assert words in told
    assert "second <b>.m4a" in told
    assert "clip.mov" not in told
    elsewhere = browser.run("document.querySelector('[aria-labelledby=h-elsewhere]').innerText")
    assert "nora" in elsewhere
    assert "add a portrait" in elsewhere
    shown = len(browser.run("[...document.querySelectorAll('.question')].map(() => 1)"))
    assert f"{shown} questions to answer" in told
    for width, dark in ((1280, False), (390, True)):
        browser.look(width, dark=dark)
        assert violations(browser) == []
    assert not browser.run("document.body.scrollWidth > innerWidth")
    # A screen reader speaks of what a button does, and not of its key.
    keys = browser.run("[...document.querySelectorAll('button kbd')].map((it) => it.ariaHidden)")
    assert {*keys} == {"true"}
    # The seconds that are in doubt can be played.
    video = "document.querySelector('.take video')"
    assert browser.run(f"{video}.src").endswith("training.mp4#t=0.5,9")
    assert browser.until(f"{video}.duration") == pytest.approx(12, abs=2)
    browser.until(f"{video}.currentTime === 0.5")
    # A link is no picture; all else is there.
    assert [each for each in browser.complaints if not each.endswith("/c.heic")] == []
    browser.complaints.clear()


def test_what_content_has_settled_is_no_question(
    light_people: Path, workers: LocalEngine, tmp_path: Path
) -> None:
    kim, media = tmp_path / "people" / "kim", light_people / "anna-miller" / "recording.mov"
    kim.mkdir(parents=True)
    # The only video can have no other role, though its name names none.
    shutil.copy(media, kim / "clip.mov")
    sound = (light_people / "jane-carter" / "recording.m4a").read_bytes()
    (kim / "one.m4a").write_bytes(sound)
    (kim / "no copy.m4a").write_bytes(sound + b"\0\0\0\x08free")
    (kim / "copy.m4a").write_bytes(sound)
    run(kim.parent, into=tmp_path / "out", options=RunOptions(engine=Scripted(), dry_run=True))
    review = Review(tmp_path / "out", workers, partial(_go_on, tmp_path / "out", None))
    with LocalSite("review", review.routes(), port=0) as site:
        page = httpx.get(site.link, trust_env=False).text
        answer = {"person": "kim", "role": "voice-audio", "name": "one.m4a"}
        with httpx.Client(headers={"origin": site.origin}, trust_env=False) as tab:
            tab.post(f"{site.link}choose", data=answer)
            answered = tab.get(site.link).text
            (kim / "person.toml").write_text(
                "statement = 'gone.txt'\n[files]\nvoice-audio = 'one.m4a'\n"
            )
            mistaken = tab.get(site.link).text
    review.close()
    [asked] = re.findall("<h2 id=.*?>(Which file .*?)<", page)
    assert asked == "Which file is the voice recording?"
    assert re.findall('name="name" value="(.*?)"', page) == ["no copy.m4a", "one.m4a"]
    assert ("Nothing is left to answer<" in answered, "elsewhere" in answered) == (True, False)
    assert "To be answered elsewhere" in mistaken


def test_a_name_that_the_locale_cannot_write_is_no_file(tmp_path: Path) -> None:
    """Where names of files are ASCII, the path of this person's page is none."""
    people, out = tmp_path / "people", tmp_path / "out"
    (people / os.fsdecode(b"Zo\xe9")).mkdir(parents=True)
    run(people, into=out, options=RunOptions(engine=Scripted(), dry_run=True))
    code = (
        "import sys; from pathlib import Path; from palprep.record import Review; "
        "from palprep.workers import LocalEngine; "
        "review = Review(Path(sys.argv[1]), LocalEngine(1), None); print(len(review.routes()))"
    )
    ascii_names = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(out)],
        env={**os.environ, **ascii_names}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_else_is_shown_or_taken(page: Page) -> None:
    link, origin = page.site.link, page.site.origin
    with httpx.Client(base_url=link, trust_env=False) as tab:
        report = tab.get("out/report.html")
        assert (report.status_code, "Jane" in report.text) == (200, True)
        part = tab.get(
            "out/prepared/jane/training-video/training.mp4", headers={"range": "bytes=0-9"}
        )
        assert (part.status_code, len(part.content)) == (206, 10)
        (page.out / "prepared" / "link.mp4").symlink_to(page.out / "journal.sqlite")
        for path in (
            *("out/journal.sqlite", "out/prepared/link.mp4", "out/results.jsonl"),
            *("out/%2e%2e/people/jane/training.mp4", "out//etc/passwd", "out/prepared"),
            *("file/eve/face-image/c.heic", "file/bob/voice-audio/..%2f..%2fjane%2ftraining.mp4"),
            *("file/jane/training-video/training.mp4", "thumbnail/bob/voice-audio/first.m4a"),
        ):
            assert tab.get(path).status_code == 404, path
        drawn = tab.get("thumbnail/eve/face-image/a.heic").content
        assert drawn.startswith(b"\xff\xd8")
        assert tab.get("thumbnail/eve/face-image/a.heic").content == drawn
        assert tab.get("thumbnail/eve/face-image/b.heic").content == drawn
        # It is drawn once, by the browser or here.
        drawings = [*Path(page.review._drawn.name).glob("*.jpg")]
        assert len({each.read_bytes() for each in drawings}) == 1
        assert len(drawings) == 2  # Of a.heic and of b.heic.
        answer = {"person": "bob", "role": "voice-audio", "name": "first.m4a"}
        assert tab.post("choose", data=answer).status_code == 404
        elsewhere = {**answer, "name": "../jane/training.mp4"}
        tab.post("choose", data=elsewhere, headers={"origin": origin})
        assert "That is asked no more" in tab.get("").text
    assert not (page.people / "bob" / "person.toml").exists()


def test_no_decision_is_taken_on_doubts_that_were_not_shown(page: Page) -> None:
    origin = page.site.origin
    answer = {"person": "jane", "decision": "accept", "by": "", "because": "it is her"}
    with (
        httpx.Client(base_url=page.site.link, headers={"origin": origin}, trust_env=False) as tab,
        Journal.of(page.out) as journal,
    ):
        old = re.findall('name="evidence" value="(.+?)"', tab.get("").text)
        [before] = journal.standing("consent_found", people=["jane"])
        doubt = before.body.evidence.doubts[0].model_copy(update={"sentence": "Another one."})
        other = before.body.evidence.model_copy(update={"doubts": (doubt,)})
        journal.append(before.body.model_copy(update={"evidence": other}), person="jane")
        # Nor where another tab has shown the new one meanwhile.
        for evidence in (*old, *old, ""):
            tab.post("decide", data={**answer, "by": "Eve", "evidence": evidence})
            assert "has changed since this page was shown" in tab.get("").text
        tab.post("decide", data={**answer, "person": "nobody"})
        assert "asked no more" in tab.get("").text
        journal.append(before.body, person="jane")
        tab.get("")
    [dossier] = (page.out / "prepared").rglob("*.consent.json")
    assert read_dossier(dossier).decision is None


def test_answers_are_on_record_and_the_run_goes_on(page: Page) -> None:
    browser = page.browser
    browser.open(page.site.link)
    before = len(browser.run("[...document.querySelectorAll('.question')].map(() => 1)"))
    # A key within the question chooses; it is no key where somebody writes.
    browser.run("document.querySelector('[aria-label^=first]').closest('.question').focus()")
    browser.type("2")
    count = "document.querySelectorAll('.question').length"
    browser.until(f"document.readyState === 'complete' && {count} === {before - 1}")
    written = (page.people / "bob" / "person.toml").read_text()
    assert written == '[files]\nvoice-audio = "second <b>.m4a"\n'
    browser.run("document.querySelector('[name=by]').closest('.question').focus()")
    browser.type("a")  # Nothing is decided without a name and a reason.
    assert browser.run("document.activeElement.name") == "by"
    browser.type("Grace Hopper")
    browser.run("document.querySelector('[name=because]').focus()")
    browser.type("all is there, and it is her")
    # Enter in a field decides nothing, and what was written outlives the page.
    browser.run("document.querySelector('[name=by]').focus()")
    for kind in ("keyDown", "keyUp"):
        browser.ask("Input.dispatchKeyEvent", type=kind, key="Enter", text="\r")
    browser.run("window.before = true")
    browser.ask("Page.reload")
    browser.until("!window.before && document.readyState === 'complete'")
    assert browser.run(count) == before - 1
    assert browser.run("document.querySelector('[name=because]').value").endswith("it is her")
    browser.run("document.querySelector('[name=by]').focus()")
    browser.type("Grace Hopper")
    browser.press("[value=accept]")
    browser.until(f"document.readyState === 'complete' && {count} === {before - 2}")
    [dossier] = (page.out / "prepared").rglob("*.consent.json")
    decided = read_dossier(dossier).decision
    assert (decided.accepted, decided.by) == (True, "Grace Hopper")
    assert decided.because == "all is there, and it is her"
    browser.press("form[action=run] button")
    browser.until("document.body.dataset.running === '1'")
    browser.until("document.body.dataset.running === '' && document.readyState === 'complete'", 90)
    browser.until("document.getElementById('told').textContent.includes('4 of 4')")
    stand = {each.person: each.status for each in status(page.out).people}
    assert stand["jane"] == "waiting"  # A dry run asks for nothing.
    assert stand["bob"] == "waiting", browser.text()
    assert re.search("Nothing is left|1 question ", browser.text())
    assert "Nothing is left to answer\n" not in browser.text()
    assert [each for each in browser.complaints if not each.endswith("/c.heic")] == []


def test_a_page_whose_server_has_ended_says_so(page: Page) -> None:
    with LocalSite("review", page.review.routes(), port=0) as site:
        page.browser.open(site.link)
    # Neither is what was written lost to the browser's own page of errors.
    page.browser.run("document.querySelector('form[action=run]').requestSubmit()")
    page.browser.until("document.querySelector('form .error')")
    page.browser.run("follow()")
    page.browser.until(
        "document.getElementById('progress').textContent.includes('has ended: start')"
    )
