"""The page in a real browser: it complains of nothing, filters, opens, and is accessible."""

from __future__ import annotations

import html as markup
import importlib.resources
import json
import re
from pathlib import Path

import pytest
from browser import Browser
from driven import Driven
from elements import Elements
from finished_runs import FULL, person, run
from voices import voice_of

from palprep.speech.facts import Waveform
from palprep.views.drawings.over_time import draw_waveform
from palprep.views.drawings.pictures import Embedded
from palprep.views.page import Links, overview, pages, person_page, worst_first

DARK = "--blink-settings=preferredColorScheme=0"
NARROW = "--window-size=500,900"
WIDE = "--window-size=1280,900"

TELL = """
axe.run(document, {resultTypes: ["violations"]}).then(({violations}) => {
  const told = document.createElement("pre");
  told.id = "told";
  told.textContent = JSON.stringify(violations.map(
    ({id, nodes}) => [id, nodes.map((node) => node.html)]));
  document.body.append(told);
});
"""


def drawn(picture):
    loud = Waveform(peaks=(1.0,) * 4, short_term_lufs=(), step_s=0.1)
    voice = voice_of(duration_s=2.0, integrated_lufs=None, waveform=loud)
    return Embedded(draw_waveform(voice).encode(), "image/svg+xml").data_uri


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    return Browser(tmp_path)


@pytest.fixture(scope="module")
def html() -> str:
    others = (
        person(slug="bob", name="Bob", status="waiting", reasons=("not over yet",)),
        person(slug="eve", name="Eve", waived=("no statement",)),
    )
    seen, nowhere = run(FULL, *others), Path("nowhere")
    people = worst_first(seen.people)
    return overview(seen.head, people, "a stamp", Links(nowhere, nowhere, drawn))


def test_it_complains_of_nothing_and_opens_who_is_named(
    browser: Browser, html: str, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text(html, "utf-8")
    shown = browser.opened(f"{path.as_uri()}#p2")
    people = re.findall(r'<details([^>]*)>\s*<summary class="who row"', shown)
    assert ["open" in each for each in people] == [False, True, False]


def left(shown: str) -> list[str]:
    """The states of the people who are not hidden."""
    elements = Elements(shown).elements
    return [a["data-status"] for _, a in elements if "data-status" in a and "hidden" not in a]


def test_words_states_and_reasons_narrow_the_people(browser: Browser, html: str) -> None:
    typed = (
        "const field = document.getElementById('find');"
        "field.value = 'ÓVER yet'; field.dispatchEvent(new Event('input'))"
    )
    assert left(browser.after(html, typed)) == ["waiting"]
    pressed = "document.querySelector('[data-only=done]').click()"
    shown = browser.after(html, pressed)
    assert left(shown) == ["done"]
    assert "1 of 3 shown" in Elements(shown).text
    assert left(browser.after(html, f"{pressed};{pressed}")) == ["redo", "waiting", "done"]
    chosen = (
        "const reason = document.getElementById('because'); reason.selectedIndex = 1;"
        "reason.dispatchEvent(new Event('change'))"
    )
    assert left(browser.after(html, chosen)) == ["redo"]


def test_the_address_holds_what_is_shown(browser: Browser, html: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(html, "utf-8")
    assert left(browser.opened(f"{path.as_uri()}?find=bob")) == ["waiting"]
    assert left(browser.opened(f"{path.as_uri()}?only=redo&only=done")) == ["redo", "done"]
    told = "document.querySelector('[data-only=done]').click(); document.title = location.search"
    assert "<title>?only=done</title>" in browser.after(html, told)


@pytest.mark.parametrize("flags", [(WIDE,), (NARROW, DARK)], ids=["desktop", "narrow and dark"])
@pytest.mark.parametrize("which", ["all on one page", "index", "one of many"])
def test_axe_finds_nothing(
    browser: Browser, html: str, tmp_path: Path, which: str, flags: tuple[str, ...]
) -> None:
    axe = importlib.resources.files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
    if which != "all on one page":
        many = (FULL, *(person(slug=f"p{number}") for number in range(50)))
        made = {each.place: each for each in pages(run(*many), tmp_path)}
        html = made["report.html" if which == "index" else person_page("ada")].html()
    unfolded = "document.querySelectorAll('details').forEach((each) => { each.open = true });"
    shown = browser.after(html, f"{axe};{unfolded}{TELL}", *flags)
    told = re.search(r'<pre id="told">(.*?)</pre>', shown, re.DOTALL)
    assert told is not None, "axe has not run"
    assert json.loads(markup.unescape(told[1])) == []


def test_from_a_page_of_one_person_one_steps_to_those_who_were_listed(tmp_path: Path) -> None:
    people = [person(slug=f"p{n}", name=f"P {n:02}", status="waiting") for n in range(51)]
    for each in pages(run(*people), tmp_path):
        (tmp_path / each.place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each.place).write_text(each.html(), "utf-8")
    browser = Driven(tmp_path)
    try:
        browser.open((tmp_path / "report.html").as_uri())
        browser.run(
            "document.getElementById('find').value = '9';"
            "document.getElementById('find').dispatchEvent(new Event('input'))"
        )
        browser.press('a.row[href*="p39"]')
        after = "document.querySelector('#steps [data-is=after]')"
        assert browser.until(f"{after}?.textContent") == "P 49 →"
        browser.press("#steps [data-is=after]")
        assert browser.until(f"location.href.includes('p49.html') && {after}.hidden")
        assert browser.run("document.querySelector('#steps [data-is=before]').textContent") == (
            "← P 39"
        )
    finally:
        browser.close()
