"""The report page: complete in itself, escaped, and readable without colour or scripts."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from elements import Elements
from finished_runs import BAD, CONSENT, EVIL, FULL, GOOD, asset, person, run
from voices import voice_of

from palprep.fixes import FixDone
from palprep.values import Role, Span
from palprep.views.drawings.pictures import Embedded
from palprep.views.format import initials
from palprep.views.page import Links, overview, worst_first


def drawn(picture):
    return Embedded(b"\xff\xd8\xff" + b"x" * 10, "image/jpeg").data_uri


def undrawn(picture):
    return None


def shown(seen, *, show=drawn, folder=Path("nowhere")):
    people = worst_first(seen.people)
    return overview(seen.head, people, "a stamp", Links(folder, folder, show))


def test_nothing_is_fetched_and_nothing_foreign_runs():
    html = shown(run(FULL, person()))
    found = Elements(html)
    assert {"iframe", "object", "form"}.isdisjoint(tag for tag, _ in found.elements)
    [script] = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    [policy] = [
        attributes["content"]
        for tag, attributes in found.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    for tag, attributes in found.elements:
        for name in ("src", "href"):
            if name in attributes:
                assert attributes[name].startswith(("data:", "#")), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert "url(" not in attributes.get("style", "")


def with_consent_in(path, **changes):
    kept = asset(GOOD, consent=CONSENT)
    prepared = kept.prepared.model_copy(update={"path": path})
    return person(assets=(kept.model_copy(update={"prepared": prepared}),), **changes)


def test_the_statement_plays_from_the_file_beside_the_page(tmp_path):
    video = tmp_path / "out" / "a #1?.mp4"
    video.parent.mkdir()
    spoken = run(with_consent_in(video))
    assert "<video" not in shown(spoken, folder=tmp_path)
    video.write_bytes(b"video")
    found = Elements(shown(spoken, folder=tmp_path))
    [player] = [attributes for tag, attributes in found.elements if tag == "video"]
    assert player["src"] == "./out/a%20%231%3F.mp4#t=1.25,3.5"
    assert "controls" in player
    assert player["preload"] == "none"
    assert player["aria-label"]
    assert "<video" not in shown(spoken, folder=tmp_path / "elsewhere")
    assert "<video" not in shown(spoken)


def test_a_waiver_stands_before_everything_else():
    waived = with_consent_in(Path("a.mp4"), waived=(EVIL,), name="Eve")
    text = Elements(shown(run(person(), waived))).text
    order = (
        *("Consent was waived for 1 person.", "2 people", "Ada", "Eve", "consent waived"),
        "Done",
        *("Consent was waived: the work went on without it.", EVIL, "Portrait"),
    )
    at = 0
    for words in order:
        assert words in text[at:], words
        at = text.index(words, at)
    assert "waived" not in Elements(shown(run(person()))).text


def test_the_verdict_and_its_reason_come_before_the_words():
    text = Elements(shown(run(FULL))).text
    order = ("not heard as required", "agree was not heard", "never")
    places = [text.index(each) for each in order]
    assert places == sorted(places)


def test_everything_that_came_from_outside_is_escaped():
    text = shown(run(FULL))
    assert text.count("<script") == 1
    assert text.count("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&#34;&amp;amp;") >= 6
    assert EVIL in Elements(text).text


def test_what_matters_is_there_in_words():
    why = "Why not everything was created"
    # Of one reason, the row is all there is to say.
    assert why not in Elements(shown(run(FULL))).text
    several = FULL.model_copy(update={"reasons": (*FULL.reasons, "and one more reason")})
    text = Elements(shown(run(several))).text
    for words in (
        "1 person", "http://127.0.0.1:8700", "2026-11-21 05:00 UTC", "Redo",
        why, "and one more reason", "voice_7", "completed", "no id known", "in doubt", "a.heic",
        "a.jpg", "JPEG · 123 kB · 200 \N{MULTIPLICATION SIGN} 400 px",
        "1 failed", "1 not measured", "1 passed",
        "Person in the middle", "person_centered", "41.23% of the width", "at most 0.2", "a guide",
        "needs nsfw", "not as required", "0:01.2 to 0:03.5", "never", "agree was not heard",
        "portrait refused", "sha256", "ab" * 32,
    ):  # fmt: skip
        assert words in text, words


def test_failures_come_before_the_rest():
    text = Elements(shown(run(FULL))).text
    assert text.index("Person in the middle") < text.index("No nudity") < text.index("Image format")


def test_words_of_the_statement_tell_what_became_of_them():
    text = shown(run(FULL))
    assert "<ins>never</ins>" in text
    assert "<del>agree</del>" in text
    assert 'title="0:01.2\N{EN DASH}0:01.4, probability 0.90"' in text
    assert 'title="not found, probability 0.10"' in text


def test_regions_are_drawn_over_the_picture():
    elements = Elements(shown(run(FULL))).elements
    [region] = [attributes for _, attributes in elements if "region" in attributes.get("class", "")]
    assert region["style"] == "left:25.0%;top:25.0%;width:50.0%;height:10.0%"


def test_without_a_picture_there_are_initials():
    found = Elements(shown(run(FULL, person(name="Grace Brewster Hopper")), show=undrawn))
    assert "img" not in {tag for tag, _ in found.elements}
    assert "GH" in found.text


def test_every_status_has_its_word():
    statuses = ("done", "waiting", "in_doubt", "needs_decision", "redo", "failed")
    people = [person(slug=status, status=status, reasons=("why",)) for status in statuses]
    text = Elements(shown(run(*people))).text
    for word in ("Done", "Waiting", "In doubt", "Needs decision", "Redo", "Failed", "6 people"):
        assert word in text


def test_pictures_have_words_and_tables_have_headers():
    found = Elements(shown(run(FULL)))
    assert {tag for tag, _ in found.elements} >= {"img", "th", "a"}
    for tag, attributes in found.elements:
        if tag == "img":
            # A face stands next to its name, which says it all.
            assert attributes["alt"] or attributes["class"] == "face"
        if tag == "th":
            assert attributes["scope"] in {"col", "row"}
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {a["href"][1:] for tag, a in found.elements if tag == "a"}
    assert targets <= set(ids)
    assert dict(found.elements)["html"] == {"lang": "en"}


def test_a_person_without_a_picture_has_initials():
    assert [initials(name) for name in ("ada", "Ada King Lovelace", "!")] == ["A", "AL", "?"]


def test_the_worst_stands_first_and_each_row_says_why():
    people = [
        person(slug=status, name=status.title(), status=status, reasons=(f"why {status}", "more"))
        for status in ("done", "waiting", "redo", "failed", "needs_decision", "in_doubt")
    ]
    html = shown(run(*people))
    rows = [a["data-status"] for tag, a in Elements(html).elements if "data-status" in a]
    assert rows == ["in_doubt", "needs_decision", "failed", "redo", "waiting", "done"]
    text = Elements(html).text
    for status in rows:
        assert f"why {status} and 1 more" in text


def test_of_one_status_names_stand_in_the_order_in_which_people_count():
    people = [person(slug=f"p{each}", name=f"Person {each}") for each in (10, 9, 1)]
    assert [each.slug for each in worst_first(people)] == ["p1", "p9", "p10"]


def test_an_image_that_was_changed_stands_next_to_what_it_was():
    found = Elements(shown(run(FULL)))
    words = {attributes["alt"] for tag, attributes in found.elements if tag == "img"}
    assert {f"Portrait of {FULL.name}, before", f"Portrait of {FULL.name}, after"} <= words
    unchanged = asset(GOOD).prepared.model_copy(update={"fixes": ()})
    as_it_was = asset(GOOD).model_copy(update={"prepared": unchanged})
    html = shown(run(person(assets=(as_it_was,))))
    assert "Before" not in Elements(html).text


def test_a_recording_is_shown_and_plays_from_the_file_beside_the_page(tmp_path):
    voice = tmp_path / "ada.wav"
    voice.write_bytes(b"RIFF")
    heard = voice_of((1.0, 2.0))
    recorded = asset(GOOD, role=Role.VOICE_AUDIO, voice=heard)
    chosen = FixDone(id="select", did="kept", kept=(Span(start_s=1, end_s=2),))
    changes = {"path": voice, "fixes": (chosen,), "source_voice": heard}
    prepared = recorded.prepared.model_copy(update=changes)
    ada = person(assets=(recorded.model_copy(update={"prepared": prepared}),))
    html = shown(run(ada), folder=tmp_path)
    found = Elements(html)
    [player] = [attributes for tag, attributes in found.elements if tag == "audio"]
    assert player["src"] == "./ada.wav"
    assert "Blue was kept, grey was left out." in found.text
    assert sum("Waveform" in attributes.get("alt", "") for _, attributes in found.elements) == 2
    assert "./ada.wav" in {attributes.get("href") for tag, attributes in found.elements}
    assert "<audio" not in shown(run(ada), folder=tmp_path / "elsewhere")


def test_a_measure_does_not_repeat_the_finding():
    said = "It was not heard."
    unheard = BAD.model_copy(update={"sentence": said, "measured": f"fail: {said}"})
    text = Elements(shown(run(person(assets=(asset(unheard),))))).text
    assert (text.count(said), "fail" in text) == (1, True)
