"""The dossier as a page: complete in itself, escaped, and honest about what it leaves open."""

from __future__ import annotations

import datetime as dt
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from axe import violations
from driven import Driven
from elements import Elements

from palprep.consent import ConsentFacts, WordRecord
from palprep.consent.wording import CodeReading
from palprep.dossier import Dossier, ExaminedDossier, examine_dossier
from palprep.dossier.chain import (
    ConsentCheck,
    FileProof,
    extended,
)
from palprep.errors import DamagedMedia, UsageError
from palprep.media.sources import sha256_of
from palprep.rules.consent import ConsentDecision
from palprep.values import Outcome, Span
from palprep.views import export_dossiers, standing
from palprep.views.dossier_page import dossier_page
from palprep.views.drawings.pictures import Embedded

NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)
EVIL = "<script>alert('x')</script>\"&amp;"

HEARD = ConsentFacts(
    outcome="pass", transcript=f"So I agree {EVIL}", starts_at=0.5, ends_at=4.5,
    words=(
        WordRecord(expected="I", heard="I", start=0.5, end=0.7, probability=0.9, outcome="pass"),
        WordRecord(expected="agree", heard="agree", start=0.7, end=4.5, probability=0.98,
                   outcome="pass"),
    ),
    reasons=(EVIL,), statement=f"I agree {EVIL}", full_name=f"Ada {EVIL}", language="en",
    said_before="So", model="whisper", model_sha256="e" * 64, second_model="moonshine",
)  # fmt: skip
CHECKS = (
    ConsentCheck(id="consent_seen", outcome="pass", sentence="One face is seen in 5 of 5."),
    ConsentCheck(id="mouth_moves", outcome="unknown", sentence="No mouth is seen."),
)


@pytest.fixture(autouse=True)
def _frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of these tests are no videos."""

    def frames(video: Path, statement: Span) -> tuple[tuple[float, Embedded], ...]:
        return ((statement.start_s, Embedded(b"\xff\xd8\xff", "image/jpeg")),)

    monkeypatch.setattr("palprep.views.dossier_page.statement_frames", frames)


@pytest.fixture
def dossier(tmp_path: Path) -> Dossier:
    source, video = tmp_path / "raw.mov", tmp_path / "a.mp4"
    for path in (source, video):
        path.write_bytes(path.name.encode())
    proofs = [
        FileProof(name=path.name, sha256=sha256_of(path), size_bytes=8) for path in (source, video)
    ]
    return extended(Dossier(entries=()), kind="evidence",
        person="ada", consent=HEARD, source=proofs[0], output=proofs[1], written_at=NOON,
        checks=CHECKS, tools={"palprep": "0.1.0", "profile": "own"},
    )  # fmt: skip


def examined(folder: Path, dossier: Dossier, source: str | None = "raw.mov") -> ExaminedDossier:
    path = folder / "a.consent.json"
    path.write_text(dossier.model_dump_json())
    return examine_dossier(path, source=folder / source if source else None)


def reopened(dossier: Dossier, **changes: Any) -> Dossier:
    first = dossier.evidence
    fields = {name: getattr(first, name) for name in ("person", "consent", "source", "output")}
    return extended(Dossier(entries=()), kind="evidence", written_at=NOON, **(fields | changes))


def text_of(found: ExaminedDossier, now: dt.datetime = NOON + DAY) -> str:
    return Elements(dossier_page([found], now=now)).text


def test_everything_a_reader_needs_is_there(tmp_path: Path, dossier: Dossier) -> None:
    text = text_of(examined(tmp_path, dossier))
    order = (
        "Consent of Ada", "On 2026-11-22 12:00 UTC this consent held, with doubts.",
        "from 0:00.5 to 0:04.5", "2026-11-21 12:00 UTC", "no date is recorded",
        "no revocation is recorded", "no waiver is recorded", "The statement", "I agree",
        "What was heard", "Before: So", "After: nothing was heard", "Word by word", "0:00.70",
        "0.98", "The person while it is spoken", "0:00.5", "One face is seen in 5 of 5.",
        "The files", sha256_of(tmp_path / "a.mp4"), "unchanged", sha256_of(tmp_path / "raw.mov"),
        "The entries", "The chain was verified on 2026-11-22 12:00 UTC",
        dossier.entries[0].sha256, "The tools", "palprep 0.1.0", "whisper", "e" * 64,
        "moonshine was asked",
        "What was not verified", "Who the person is", "The spelling of the name",
        "That the recording is genuine", "up to 12 seconds after", "the profile “own”",
        "mouth_moves", "No mouth is seen.",
    )  # fmt: skip
    at = 0
    for words in order:
        assert words in text[at:], words
        at = text.index(words, at)


def test_nothing_is_fetched_nothing_runs_and_all_is_escaped(
    tmp_path: Path, dossier: Dossier
) -> None:
    waived = extended(dossier, kind="waiver", written_at=NOON, note=f"waived {EVIL}")
    html = dossier_page([examined(tmp_path, waived)], now=NOON)
    found = Elements(html)
    assert "<script" not in html
    assert EVIL in found.text
    tags = {tag for tag, _ in found.elements}
    assert {"script", "iframe", "object", "form", "video", "audio"}.isdisjoint(tags)
    assert {"img", "table", "th", "h2"} <= tags
    for tag, attributes in found.elements:
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("data:", "#")), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes)
        if tag == "th":
            assert attributes["scope"] in {"col", "row"}
        if tag == "img":
            assert attributes["alt"]
    for outside in ("url(", "@import", "http://", "https://"):
        assert outside not in html
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, "It is heard from 0:05.0 to 0:07.0. So the recording was made between the two."),
        ({"kept_in": "b.mp4"}, "from 0:05.0 to 0:07.0 of b.mp4, and cut from the video."),
        ({"spoken": None}, "It is not heard after the statement."),
        ({"judged_at": NOON + DAY}, "It is heard from 0:05.0 to 0:07.0. No older"),
    ],
)
def test_a_fresh_code_is_told_with_its_times(
    tmp_path: Path, dossier: Dossier, changed: dict[str, Any], told: str
) -> None:
    code = CodeReading(
        words=("tiger", "lemon"), given_at=NOON, ends_at=NOON + DAY / 48, judged_at=NOON,
        spoken=Span(start_s=5.0, end_s=7.0),
    ).model_copy(update=changed)  # fmt: skip
    coded = reopened(dossier, consent=HEARD.model_copy(update={"code": code}))
    text = text_of(examined(tmp_path, coded))
    given = "“tiger lemon” was given out on 2026-11-21 12:00 UTC, valid until 2026-11-21 12:30 UTC."
    assert given in text
    assert told in text
    assert "Fresh code" not in text_of(examined(tmp_path, dossier))


def test_a_waiver_stands_first(tmp_path: Path, dossier: Dossier) -> None:
    waived = extended(dossier, kind="waiver", written_at=NOON, note="nothing was heard")
    text = text_of(examined(tmp_path, waived))
    assert text.index("Consent was waived") < text.index("nothing was heard")
    assert text.index("nothing was heard") < text.index("this consent held")


def test_the_end_of_a_consent_is_its_verdict(tmp_path: Path, dossier: Dossier) -> None:
    expired = extended(dossier, kind="expiry", expires_at=NOON + DAY, written_at=NOON)
    ended = extended(expired, kind="revocation", written_at=NOON, note="by letter")
    text = text_of(examined(tmp_path, ended), now=NOON + 2 * DAY)
    assert "On 2026-11-23 12:00 UTC this consent did not hold." in text
    assert "The person took the consent back on 2026-11-21 12:00 UTC." in text
    assert "The consent expired on 2026-11-22 12:00 UTC." in text
    assert "by letter" in text
    assert all(entry.sha256 in text for entry in ended.entries)


def test_without_a_doubt_nothing_speaks_against_a_consent(tmp_path: Path, dossier: Dossier) -> None:
    found = examined(tmp_path, reopened(dossier, checks=CHECKS[:1]))
    assert "nothing in this dossier spoke against this consent" in text_of(found)
    assert standing(found, NOON).outcome == "pass"


@pytest.mark.parametrize("changed", ["words", "face"])
def test_a_doubt_is_told_beside_the_verdict(tmp_path: Path, dossier: Dossier, changed: str) -> None:
    unsure = HEARD.model_copy(update={"outcome": Outcome.WARN, "reasons": ("Only the name.",)})
    doubts = {
        "words": {"consent": unsure, "checks": ()},
        "face": {"checks": (ConsentCheck(id="mouth_moves", outcome="warn", sentence="It rests."),)},
    }
    stands = standing(examined(tmp_path, reopened(dossier, **doubts[changed])), NOON)
    assert (stands.word, stands.outcome) == ("OPEN", "warn")
    assert stands.reasons[1:] == {"words": ("Only the name.",), "face": ("It rests.",)}[changed]


@pytest.mark.parametrize(
    ("check", "outcome"),
    [("consent_seen", "warn"), ("consent_seen", "unknown"), ("same_voice", "warn")],
)
def test_what_holds_a_replica_leaves_the_consent_open(
    tmp_path: Path, dossier: Dossier, check: str, outcome: str
) -> None:
    doubt = ConsentCheck(id=check, outcome=outcome, sentence="Is one face alone seen?")
    found = examined(tmp_path, reopened(dossier, checks=(doubt,)))
    stands = standing(found, NOON)
    assert (stands.word, stands.outcome) == ("OPEN", "warn")
    assert stands.reasons[-1] == "Is one face alone seen?"
    assert "it was open whether this consent is given" in text_of(found)
    ended = extended(found.dossier, kind="revocation", written_at=NOON)
    assert standing(examined(tmp_path, ended), NOON + DAY).word == "VOID"


def test_a_decision_is_told_with_its_evidence_and_what_it_proves(
    tmp_path: Path, dossier: Dossier
) -> None:
    doubt = ConsentCheck(id="mouth_moves", outcome="warn", sentence=f"It rests {EVIL}.")
    opened = reopened(dossier, checks=(doubt,))
    decision = ConsentDecision(
        accepted=True, by=f"Eve {EVIL}", because=f"I know her {EVIL}", decided_at=NOON,
        evidence=opened.consent.evidence,
    )  # fmt: skip
    decided = extended(opened, kind="decision", written_at=NOON, decision=decision)
    found = examined(tmp_path, decided)
    stands = standing(found, NOON)
    assert (stands.word, stands.outcome) == ("HOLDS", "warn")
    assert "this consent held: a person accepted its doubts" in stands.sentence
    html = dossier_page([found], now=NOON)
    assert "<script" not in html
    text = Elements(html).text
    for words in (
        decision.words, "nothing proves who decided", sha256_of(tmp_path / "a.mp4"),
        "from 0.5 s to 4.5 s", "[mouth_moves]", "Who decided.", "is not recognised as such",
    ):  # fmt: skip
        assert words in text, words
    refused = decision.model_copy(update={"accepted": False})
    void = extended(decided, kind="decision", written_at=NOON, decision=refused)
    assert standing(examined(tmp_path, void), NOON).word == "VOID"
    assert standing(examined(tmp_path, extended(void, kind="lapse", written_at=NOON)), NOON)[
        :2
    ] == ("OPEN", "warn")
    revoked = extended(decided, kind="revocation", written_at=NOON)
    assert standing(examined(tmp_path, revoked), NOON + DAY).word == "VOID"


@pytest.mark.parametrize(
    "check", ["same_person", "same_voice", "consent_seen", "consent_first", "mouth_moves"]
)
def test_what_stops_a_run_speaks_against_the_consent(
    tmp_path: Path, dossier: Dossier, check: str
) -> None:
    against = ConsentCheck(id=check, outcome="fail", sentence="Different people.")
    found = examined(tmp_path, reopened(dossier, checks=(against,)))
    stands = standing(found, NOON)
    assert (stands.word, stands.outcome) == ("VOID", "fail")
    assert "Different people." in stands.reasons
    assert "this consent did not hold" in text_of(found)


def test_a_changed_dossier_proves_nothing(tmp_path: Path, dossier: Dossier) -> None:
    forged = dossier.entries[0].model_copy(update={"person": "eve"})
    text = text_of(examined(tmp_path, Dossier(entries=(forged,))))
    assert "this dossier did not prove what it says" in text
    assert "was changed after it was written" in text
    assert "The chain was verified" not in text


def test_words_are_numbered_as_the_reasons_number_them(tmp_path: Path, dossier: Dossier) -> None:
    added = WordRecord(
        expected=None, heard="never", start=0.6, end=0.7, probability=None, outcome="fail"
    )
    first, second = HEARD.words
    heard = HEARD.model_copy(update={"words": (first, added, second)})
    entry = dossier.entries[0].model_copy(update={"consent": heard})
    text = text_of(examined(tmp_path, Dossier(entries=(entry,))))
    assert "\N{EN DASH} \N{EN DASH} never 0:00.60 0:00.70" in text
    assert "2 agree agree 0:00.70" in text


def test_frames_are_those_of_the_recorded_video_or_none(
    tmp_path: Path, dossier: Dossier, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(video: Path, statement: Span) -> tuple[tuple[float, Embedded], ...]:
        raise DamagedMedia("no frame decodes")

    found = examined(tmp_path, dossier)
    with monkeypatch.context() as patch:
        patch.setattr("palprep.views.dossier_page.statement_frames", none)
        assert "no frame decodes" in dossier_page([found], now=NOON)
    (tmp_path / "a.mp4").write_bytes(b"another")
    html = dossier_page([examined(tmp_path, dossier)], now=NOON)
    assert "<img" not in html
    assert "its frames prove nothing" in html
    (tmp_path / "a.mp4").unlink()
    html = dossier_page([examined(tmp_path, dossier)], now=NOON)
    assert "<img" not in html
    assert "The prepared video was not there" in html


def test_what_was_not_compared_is_named(tmp_path: Path, dossier: Dossier) -> None:
    text = text_of(examined(tmp_path, dossier, source=None))
    assert "The file raw.mov. No one named its place" in text
    assert "The journal of the run." in text
    assert "The same person in all files." in text


def test_an_export_is_written_and_leaves_the_dossier_alone(
    tmp_path: Path, dossier: Dossier
) -> None:
    found = examined(tmp_path, dossier)
    before = found.path.read_bytes()
    path = export_dossiers([found, found], tmp_path / "new" / "all.HTML", now=NOON)
    text = Elements(path.read_text("utf-8")).text
    assert text.count("Consent of Ada") == 2
    assert found.path.read_bytes() == before
    with pytest.raises(UsageError, match=r"a\.consent\.html"):
        export_dossiers([found], found.path, now=NOON)
    with pytest.raises(UsageError, match="takes ExaminedDossier, not PosixPath: give the dossiers"):
        export_dossiers(found, path, now=NOON)
    with pytest.raises(UsageError, match="needs a time zone"):
        export_dossiers([found], path, now=NOON.replace(tzinfo=None))
    assert found.path.read_bytes() == before


def test_a_real_browser_prints_it_and_complains_of_nothing(
    tmp_path: Path, dossier: Dossier
) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    path = tmp_path / "dossier.html"
    path.write_text(dossier_page([examined(tmp_path, dossier)], now=NOON), "utf-8")
    pdf = tmp_path / "dossier.pdf"
    printed = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'home'}",
         f"--print-to-pdf={pdf}", path.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert pdf.read_bytes().startswith(b"%PDF")
    assert "CONSOLE" not in printed.stderr


def test_it_fits_a_phone_and_is_accessible(tmp_path: Path, dossier: Dossier) -> None:
    # A decision names the sha256 of each file, as one long word.
    decision = ConsentDecision(
        accepted=True, by="Eve", because="I know her", decided_at=NOON,
        evidence=dossier.consent.evidence,
    )  # fmt: skip
    decided = extended(dossier, kind="decision", written_at=NOON, decision=decision)
    path = tmp_path / "dossier.html"
    path.write_text(dossier_page([examined(tmp_path, decided)], now=NOON), "utf-8")
    browser = Driven(tmp_path)
    try:
        browser.look(390)
        browser.open(path.as_uri())
        assert violations(browser) == []
        assert not browser.run("document.documentElement.scrollWidth > innerWidth")
        caption = "document.querySelector('caption').getBoundingClientRect()"
        assert browser.run(f"{caption}.right <= innerWidth")
    finally:
        browser.close()
