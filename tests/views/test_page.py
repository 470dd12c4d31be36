"""The report page: complete in itself, escaped, and readable without colour or scripts."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from elements import Elements

from palprep.consent.facts import ConsentFacts, WordRecord
from palprep.errors import UnsupportedMedia
from palprep.facts.facts import Facts
from palprep.journal.creations import Creation, CreationState
from palprep.journal.results import FaceCheck, FaceVerdict
from palprep.journal.run_view import PersonView, RunView, Timing
from palprep.preflight.asset import Asset
from palprep.preflight.prepared import Prepared
from palprep.rules.report import Check, Report
from palprep.values import Outcome, Rect, Role
from palprep.views.embedded import Embedded
from palprep.views.page import initials, page

EVIL = "<script>alert('x')</script>\"&amp;"


def facts_of_still(consent=None):
    file_type = {
        "kind": "image", "format": "jpeg", "description": "a JPEG image", "mime": "image/jpeg",
        "extensions": [".jpg"], "accepted": True,
    }  # fmt: skip
    return Facts.model_validate(
        {
            "file": {"path": "a.jpg", "name": "a.jpg", "size_bytes": 123_456, "type": file_type},
            "image": {
                "format": "jpeg", "width": 200,
                "height": 400, "orientation": 1, "mode": "RGB", "bits_per_channel": 8,
                "icc_profile": None, "icc_is_srgb": None, "has_alpha": False, "frames": 1,
                "metadata": [], "base64_chars": 164_608,
            },
            "consent": consent,
        }
    )  # fmt: skip


def report(*checks, **extra):
    return Report(
        path="out/a.jpg", role=Role.FACE_IMAGE, profile="core-4", checks=checks,
        facts=facts_of_still(**extra),
    )  # fmt: skip


BAD = Check(
    id="person_centered", label="Person in the middle", outcome=Outcome.FAIL, measured=0.41234567,
    limit="at most 0.2", source="a guide", advice="Step " + EVIL,
    region=Rect(x=50, y=100, width=100, height=40),
)  # fmt: skip
UNKNOWN = Check(id="no_nudity", label="No nudity", outcome=Outcome.UNKNOWN, advice="needs nsfw")
GOOD = Check(id="image_format", label="Image format", outcome=Outcome.PASS, measured="jpeg")


def asset(*checks, role=Role.FACE_IMAGE, **extra):
    prepared = Prepared(
        source="in/a.heic", source_sha256="cd" * 32,
        path="out/a.jpg", report=report(*checks, **extra),
        fixes=({"id": "convert", "did": f"converted {EVIL}"},), sha256="ab" * 32,
    )  # fmt: skip
    return Asset(role=role, source="in/a.heic", source_sha256="cd", prepared=prepared, seconds=1.5)


CONSENT = ConsentFacts(
    outcome="fail", transcript=f"I {EVIL}", starts_at=1.25, ends_at=3.5, full_name="Ada",
    language="en", statement="I agree", reasons=("agree was not heard",),
    words=(
        WordRecord(expected="I", heard="I", start=1.2, end=1.4, probability=0.9, outcome="pass"),
        WordRecord(expected=None, heard="never", start=1.5, end=1.7, probability=None,
                   outcome="fail"),
        WordRecord(expected="agree", heard=None, start=None, end=None, probability=0.1,
                   outcome="fail"),
    ),
)  # fmt: skip


def person(**changes):
    defaults = {
        "slug": "ada", "name": "Ada", "full_name": "Ada Lovelace", "status": "done", "reasons": (),
    }  # fmt: skip
    return PersonView.model_validate({**defaults, **changes})


def creation(what, **changes):
    return Creation.model_validate(
        {"key": f"{what}-1", "person": "ada", "what": what, "state": CreationState.COMPLETED,
         "id": f"{what}_7", **changes}
    )  # fmt: skip


def run(*people):
    return RunView(
        started_at="2026-11-21T05:00:00.000+00:00", updated_at="2026-11-21T05:01:00.000+00:00",
        target="http://127.0.0.1:8700", profile="core-4", dry_run=False, version="0.1.0",
        people=people,
    )  # fmt: skip


FULL = person(
    name=f"Ada {EVIL}",
    status="refused",
    reasons=(f"because {EVIL}",),
    assets=(asset(GOOD, UNKNOWN, BAD, consent=CONSENT),),
    face=FaceVerdict(
        passed=False, message=EVIL, model="core-4",
        checks=(FaceCheck(id="x", label=f"Label {EVIL}", passed=False),),
    ),
    voice=creation("voice"),
    replica=creation("replica", state=CreationState.IN_DOUBT, id=None),
    timings=(Timing(step="prepare", seconds=1.5), Timing(step="train voice", seconds=75)),
)  # fmt: skip


def jpeg(path):
    return Embedded(b"\xff\xd8\xff" + b"x" * 10, "image/jpeg")


def test_nothing_is_fetched_and_nothing_runs():
    found = Elements(page(run(FULL, person()), thumbnail=jpeg))
    assert {"script", "iframe", "object", "form"}.isdisjoint(tag for tag, _ in found.elements)
    for tag, attributes in found.elements:
        for name in ("src", "href"):
            if name in attributes:
                assert attributes[name].startswith(("data:", "#")), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert "url(" not in attributes.get("style", "")


def with_consent_in(path, **changes):
    kept = asset(GOOD, consent=CONSENT)
    prepared = kept.prepared.model_copy(update={"path": str(path)})
    return person(assets=(kept.model_copy(update={"prepared": prepared}),), **changes)


def test_the_statement_plays_from_the_file_beside_the_page(tmp_path):
    video = tmp_path / "out" / "a #1?.mp4"
    video.parent.mkdir()
    spoken = run(with_consent_in(video))
    assert "<video" not in page(spoken, thumbnail=jpeg, folder=tmp_path)
    video.write_bytes(b"video")
    found = Elements(page(spoken, thumbnail=jpeg, folder=tmp_path))
    [player] = [attributes for tag, attributes in found.elements if tag == "video"]
    assert player["src"] == "./out/a%20%231%3F.mp4#t=1.25,3.5"
    assert "controls" in player
    assert player["preload"] == "none"
    assert player["aria-label"]
    assert "<video" not in page(spoken, thumbnail=jpeg, folder=tmp_path / "elsewhere")
    assert "<video" not in page(spoken, thumbnail=jpeg)


def test_a_waiver_stands_before_everything_else():
    waived = with_consent_in("a.mp4", waived=(EVIL,), name="Eve")
    text = Elements(page(run(person(), waived))).text
    order = (
        *("Consent was waived for 1 person.", "2 people", "Done", "Ada"),
        *("Consent waived: this run was told to go on without it", EVIL, "Eve", "Voice"),
    )
    at = 0
    for words in order:
        assert words in text[at:], words
        at = text.index(words, at)
    assert "waived" not in Elements(page(run(person()))).text


def test_the_verdict_and_its_reason_come_before_the_words():
    text = Elements(page(run(FULL), thumbnail=jpeg)).text
    order = ("not heard as required", "agree was not heard", "never")
    places = [text.index(each) for each in order]
    assert places == sorted(places)


def test_everything_that_came_from_outside_is_escaped():
    text = page(run(FULL), thumbnail=jpeg)
    assert "<script" not in text
    assert text.count("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&#34;&amp;amp;") >= 6
    assert EVIL in Elements(text).text


def test_what_matters_is_there_in_words():
    text = Elements(page(run(FULL), thumbnail=jpeg)).text
    for words in (
        "1 person", "http://127.0.0.1:8700", "21 November 2026, 05:00:00 UTC", "Refused",
        "Why nothing was created", "voice_7", "completed", "no id known", "in doubt", "a.heic",
        "a.jpg", "JPEG · 123 kB · 200 \N{MULTIPLICATION SIGN} 400 px",
        "1 failed", "1 not measured", "1 passed",
        "Person in the middle", "person_centered", "0.4123", "at most 0.2", "a guide",
        "needs nsfw", "not as required", "0:01.2 to 0:03.5", "never", "agree was not heard",
        "portrait refused", "1.5 s", "1 min 15 s", "sha256", "ab" * 32,
    ):  # fmt: skip
        assert words in text, words


def test_failures_come_before_the_rest():
    text = Elements(page(run(FULL), thumbnail=jpeg)).text
    assert text.index("Person in the middle") < text.index("No nudity") < text.index("Image format")


def test_words_of_the_statement_tell_what_became_of_them():
    text = page(run(FULL), thumbnail=jpeg)
    assert "<ins>never</ins>" in text
    assert "<del>agree</del>" in text
    assert 'title="0:01.2\N{EN DASH}0:01.4, probability 0.90"' in text
    assert 'title="not found, probability 0.10"' in text


def test_regions_are_drawn_over_the_picture():
    elements = Elements(page(run(FULL), thumbnail=jpeg)).elements
    [region] = [attributes for _, attributes in elements if attributes.get("class") == "region"]
    assert region["title"] == "Person in the middle"
    assert region["style"] == "left:25.0%;top:25.0%;width:50.0%;height:10.0%"


def test_without_a_picture_there_are_initials():
    def none(path):
        raise UnsupportedMedia("no picture")

    found = Elements(page(run(FULL, person(name="Grace Brewster Hopper")), thumbnail=none))
    assert "img" not in {tag for tag, _ in found.elements}
    assert "GH" in found.text


def test_every_status_has_its_word():
    statuses = ("done", "waiting", "in_doubt", "refused", "failed")
    people = [person(slug=status, status=status, reasons=("why",)) for status in statuses]
    text = Elements(page(run(*people), thumbnail=jpeg)).text
    for word in ("Done", "Waiting", "In doubt", "Refused", "Failed", "5 people"):
        assert word in text


def test_pictures_have_words_and_tables_have_headers():
    found = Elements(page(run(FULL), thumbnail=jpeg))
    assert {tag for tag, _ in found.elements} >= {"img", "th", "a"}
    for tag, attributes in found.elements:
        if tag == "img":
            assert attributes["alt"]
        if tag == "th":
            assert attributes["scope"] in {"col", "row"}
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {a["href"][1:] for tag, a in found.elements if tag == "a"}
    assert targets <= set(ids)
    assert dict(found.elements)["html"] == {"lang": "en"}


def test_a_person_without_a_picture_has_initials():
    assert [initials(name) for name in ("ada", "Ada King Lovelace", "!")] == ["A", "AL", "?"]


def test_a_real_browser_shows_it_and_complains_of_nothing(tmp_path):
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    path = tmp_path / "report.html"
    path.write_text(page(run(FULL, person()), thumbnail=jpeg), "utf-8")
    shown_by = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'home'}", "--dump-dom",
         path.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert 'id="p2"' in shown_by.stdout
    assert "CONSOLE" not in shown_by.stderr
