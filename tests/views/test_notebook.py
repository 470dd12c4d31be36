"""Views for Jupyter: what a file brings along is text, never markup."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from driven import Driven
from finished_runs import person, run
from IPython.core.interactiveshell import InteractiveShell

from palprep.consent import ConsentFacts, WordRecord
from palprep.fixes import FixDone
from palprep.journal.creations.states import Creation
from palprep.journal.entries.bodies import FaceCheck, FaceVerdict
from palprep.preflight import Prepared, Ranking, check, prepare
from palprep.rules import Check, Report, load_profile
from palprep.rules.report import ReportError
from palprep.values import Outcome, Role
from palprep.views.notebook import html_of
from palprep.vision import Models

NASTY = "<script>alert('x')</script>&\"'"


class Collector(HTMLParser):
    """The tags and the text of a page; unbalanced markup fails."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(html: str) -> Collector:
    collector = Collector()
    collector.feed(html)
    collector.close()
    assert collector.open == []
    return collector


def report(path: str = "a.jpg", **changes: object) -> Report:
    checks = (
        Check(id="image_format", label="Image format", outcome=Outcome.PASS, measured="jpeg"),
        Check(
            id="image_metadata", label=NASTY, outcome=Outcome.WARN, measured=NASTY,
            limit=NASTY, source=NASTY, advice=NASTY,
        ),
        Check(id="person_centered", label="Centred", outcome=Outcome.FAIL, measured=0.25),
    )  # fmt: skip
    filled = {"path": path, "role": Role.FACE_IMAGE, "profile": "core-4", "checks": checks}
    return Report(**(filled | changes))


def consent() -> ConsentFacts:
    word = WordRecord(
        expected=None, heard=NASTY, start=1.0, end=1.5, probability=None, outcome="fail"
    )
    return ConsentFacts(
        outcome="fail", transcript=NASTY, starts_at=None, ends_at=None, words=(word,),
        reasons=(NASTY,), statement=NASTY, full_name=NASTY, language="en",
    )  # fmt: skip


def prepared() -> Prepared:
    return Prepared(
        source=NASTY, source_sha256="1" * 64, path=NASTY, report=report(), sha256="0" * 64,
        fixes=(FixDone(id=NASTY, did=NASTY),),
    )  # fmt: skip


@pytest.mark.parametrize(
    "shown",
    [
        lambda: report(NASTY),
        lambda: report(NASTY, checks=(), error=ReportError(code="media_damaged", message=NASTY)),
        prepared,
        consent,
        lambda: report().checks[1],
        lambda: run(person(name=NASTY, reasons=(NASTY,))),
        lambda: person(name=NASTY, waived=(NASTY,)),
        lambda: Creation(key="k", person=NASTY, what="voice", state="error", error_message=NASTY),
        lambda: FaceVerdict(passed=False, message=NASTY, model="core-4", checks=()),
        lambda: load_profile().model_copy(update={"title": NASTY}),
    ],
    ids=[
        *("report", "unreadable", "prepared", "consent", "check", "run", "person"),
        *("creation", "face", "profile"),
    ],
)
def test_what_a_file_says_is_shown_as_text(shown: Callable[[], object]) -> None:
    page = parsed(html_of(shown()))
    assert "script" not in page.tags
    assert NASTY in page.text


def test_what_failed_comes_first() -> None:
    text = parsed(html_of(report())).text
    assert text.index("Centred") < text.index(NASTY) < text.index("Image format")


def test_what_the_service_says_against_a_portrait_comes_first() -> None:
    checks = (
        FaceCheck(id="no_nudity", label="Dressed", passed=True),
        FaceCheck(id="person_centered", label="Centred", passed=False),
    )
    verdict = FaceVerdict(passed=False, message="Move.", model="core-4", checks=checks)
    text = parsed(html_of(verdict)).text
    assert text.index("Move.") < text.index("fail Centred") < text.index("pass Dressed")


def test_what_was_made_is_told_with_its_id_and_its_state() -> None:
    made = Creation(key="k", person="ada", what="voice", state="in_doubt", id="v1", why="Cut off.")
    assert "The voice of ada v1: in doubt\nCut off." in parsed(html_of(made)).text


def test_a_state_stays_on_one_line_in_a_narrow_table(tmp_path: Path) -> None:
    page = tmp_path / "people.html"
    page.write_text(html_of(run(person(status="waiting", reasons=("not over yet " * 20,)))))
    browser = Driven(tmp_path)
    try:
        browser.open(page.as_uri())
        browser.look(300)
        badge = (
            "[...document.querySelectorAll('td b')].find((b) => b.innerText.includes('waiting'))"
        )
        assert browser.run(f"{badge}.getClientRects().length") == 1
    finally:
        browser.close()


def test_what_passed_is_folded() -> None:
    html = html_of(report())
    shown, _, folded = html.partition("<details>")
    assert "Centred" in shown
    assert "image_format" not in shown
    assert "image_format" in folded


def test_an_image_that_was_fixed_stands_next_to_what_it_was(
    sample_media: Path, tmp_path: Path
) -> None:
    ready = prepare(sample_media / "people/jane-carter/portrait.heic", into=tmp_path)
    html = html_of(ready)
    assert ready.fixes
    assert html.count('alt="Before"') == html.count('alt="After"') == 1


def test_a_recording_is_seen_and_heard(sample_media: Path) -> None:
    html = html_of(check(sample_media / "people/jane-carter/recording.m4a"))
    assert "data:image/svg+xml" in html
    assert '<audio controls src="data:audio/mpeg;base64,' in html
    assert len(html) < 200_000


def test_the_statement_can_be_listened_to_as_long_as_its_file_is_there(
    sample_media: Path, tmp_path: Path
) -> None:
    file = sample_media / "people/jane-carter/consent.mp4"
    heard = consent().model_copy(update={"starts_at": 0.5, "ends_at": 3.0})
    there = html_of(heard.model_copy(update={"path": str(file)}))
    assert '<audio controls src="data:audio/mpeg;base64,' in there
    assert len(there) < 100_000
    gone = html_of(heard.model_copy(update={"path": str(tmp_path / "gone.mp4")}))
    assert "<audio" not in gone
    assert "<audio" not in html_of(heard)


def test_a_report_shows_what_was_heard_of_the_consent(sample_media: Path) -> None:
    seen = check(sample_media / "people/jane-carter/portrait.heic")
    assert seen.facts is not None
    facts = seen.facts.model_copy(update={"consent": consent()})
    html = html_of(seen.model_copy(update={"facts": facts}))
    assert "not heard as required" in html
    assert NASTY not in html


@pytest.fixture
def shell() -> InteractiveShell:
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "palprep")
    return shell


@pytest.mark.parametrize(
    "value",
    [
        report(),
        prepared(),
        consent(),
        report().checks[0],
        run(person()),
        person(),
        load_profile(),
        Ranking(),
    ],
    ids=["report", "prepared", "consent", "check", "run", "person", "profile", "ranking"],
)
def test_the_extension_makes_ipython_use_the_views(shell: InteractiveShell, value: object) -> None:
    formatted, _ = shell.display_formatter.format(value)
    assert formatted["text/html"] == html_of(value)


def test_in_a_terminal_a_report_is_its_table(shell: InteractiveShell) -> None:
    formatted, _ = shell.display_formatter.format(report())
    assert formatted["text/plain"] == str(report())


def test_registering_loads_no_decoder() -> None:
    program = (
        "import sys, palprep.views.notebook; "
        "print(*{'numpy', 'cv2', 'av', 'PIL', 'jinja2'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == ""


def test_a_cell_loads_no_model_again(sample_media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = check(sample_media / "people/jane-carter/portrait.heic")
    assert "<img" in html_of(seen)

    def read(models: Models, name: str) -> bytes:
        raise AssertionError(f"{name} was read again")

    monkeypatch.setattr(Models, "read", read)
    assert "<img" in html_of(seen)


def test_a_running_ipython_needs_no_extension() -> None:
    program = (
        "from palprep import check; html = get_ipython().display_formatter.formatters['text/html'];"
        "html.enabled = True; report = check('nope.jpg'); print(html(report)); report"
    )
    command = [sys.executable, "-m", "IPython", "--no-banner", "--quick", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "<div>" in done.stdout
    assert "FAIL  nope.jpg" in done.stdout
