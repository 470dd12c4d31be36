"""What a terminal shows: text as it is, never markup; and nothing that is not asked for."""

from __future__ import annotations

from io import StringIO

from finished_runs import CONSENT, report
from rich.console import Console, RenderableType

from palprep.journal.runs import PersonResult, PersonStatus
from palprep.preflight import Candidate
from palprep.rules import RULES, Check, Report, entry_of, load_profile
from palprep.rules.report import ReportError
from palprep.values import Outcome, Role
from palprep.views.terminal.reports import (
    check_list,
    ranking_table,
    report_view,
    results_view,
)

NASTY = "[bold]because[/]"


def shown(view: RenderableType, width: int = 120) -> str:
    out = StringIO()
    Console(file=out, width=width, highlight=False).print(view)
    return out.getvalue()


def result(status: PersonStatus, person: str = "ada") -> PersonResult:
    return PersonResult(
        person=person,
        status=status,
        voice_id="v1",
        voice_status="completed",
        replica_id=None,
        replica_status=None,
        reasons=(NASTY,) if status != "done" else (),
        assets=(),
    )


def test_people_are_shown_with_ids_and_reasons_as_they_are() -> None:
    text = shown(results_view([result("done"), result("in_doubt", "bob")]))
    assert [line.rstrip() for line in text.splitlines()] == [
        "done      ada",
        "          voice v1 completed",
        "in doubt  bob",
        "          voice v1 completed",
        f"          {NASTY}",
    ]


def test_a_reason_begins_no_line_that_looks_like_another_persons() -> None:
    named = result("redo").model_copy(update={"reasons": ("a\ndone bob.wav is cut off",)})
    assert shown(results_view([named])).splitlines()[2].split() == [
        r"a\ndone",
        *["bob.wav", "is", "cut", "off"],
    ]


def test_what_is_long_goes_on_below_itself_and_not_in_the_margin() -> None:
    long = result("in_doubt").model_copy(update={"reasons": ("word " * 40,)})
    lines = shown(results_view([long]), 80).splitlines()
    assert len(lines) == 5
    assert all(line.startswith(" " * 10 + "word") for line in lines[2:])
    heading = shown(report_view(Report(path="a/" * 60, role=None, profile="core-4")), 80)
    assert heading.splitlines()[1].startswith(" " * 8 + "a/")


REPORT = Report(
    path=NASTY,
    role=Role.FACE_IMAGE,
    profile="core-4",
    checks=(
        Check(id="image_format", label="Format", outcome=Outcome.PASS, sentence="It is fine."),
        Check(id="no_nudity", label="No nudity", outcome=Outcome.UNKNOWN, sentence="Not there.",
              advice="Install it."),
        Check(id="skin_hue", label="Hue", outcome=Outcome.UNKNOWN, sentence="Not there.",
              follows="no_nudity"),
        Check(id="image_metadata", label="Metadata", outcome=Outcome.WARN, sentence=NASTY,
              measured="gps, icc", limit="required", source="a guide", advice=NASTY),
        Check(id="person_centered", label="Centred", outcome=Outcome.FAIL, sentence="It is far.",
              measured=0.41234567, limit="at most 0.2"),
        Check(id="head_level", label="Level", outcome=Outcome.FAIL, sentence="It is far.",
              follows="person_centered"),
    ),
)  # fmt: skip


def test_a_report_tells_each_finding_once_the_worst_first() -> None:
    lines = shown(report_view(REPORT)).splitlines()
    assert lines[0].rstrip() == f"FAIL    {NASTY}  face-image, core-4"
    assert [" ".join(line.split()) for line in lines[1:]] == [
        "fail It is far.",
        "The same cause: Level",
        f"warn {NASTY} {NASTY}",
        "unknown Not there. Install it.",
        "Not measured: No nudity, Hue",
        "1 check passed",
    ]


def test_all_that_is_wrong_with_a_statement_is_told() -> None:
    reasons = ("“me” was not heard.", "“never” was added at 1.5 s.")
    told = "“me” was not heard. There is one more reason."
    spoken = Check(id="consent_spoken", label="Consent", outcome=Outcome.FAIL, sentence=told)
    found = report(spoken, consent=CONSENT.model_copy(update={"reasons": reasons}))
    for text in (shown(report_view(found)), str(found)):
        assert " ".join(reasons) in text
        assert "one more" not in text


def test_numbers_are_told_when_asked_for() -> None:
    text = shown(report_view(REPORT, verbose=True))
    assert "person_centered · 41.23% of the width · limit: at most 0.2" in text
    assert "image_metadata · gps, icc · limit: required · a guide" in text
    assert "head_level" in text
    assert "0.4123" not in shown(report_view(REPORT))


def test_everything_is_listed_when_asked_for() -> None:
    text = shown(report_view(REPORT, verbose=True))
    body = text[text.index("\n") :]
    listed = sorted({check.sentence for check in REPORT.checks}, key=body.index)
    assert listed == ["It is far.", NASTY, "Not there.", "It is fine."]
    assert "checks passed" not in text


def test_an_unreadable_file_is_its_reason() -> None:
    error = ReportError(code="file_missing", message=f"{NASTY} does not exist")
    text = shown(report_view(Report(path="a", role=None, profile="core-4", error=error)))
    assert text.splitlines()[1].strip() == f"{NASTY} does not exist"


def test_a_ranking_shows_the_best_of_near_copies() -> None:
    def candidate(path: str, **changes: object) -> Candidate:
        filled = {
            "path": path, "at_s": None, "fitness": 0.5, "failed": (), "warned": (),
            "fingerprint": "0", "duplicate_of": None,
        }  # fmt: skip
        return Candidate.model_validate(filled | changes)

    ranked = [
        candidate("in/[a].jpg", fitness=0.9),
        candidate("in/b.mp4", at_s=61.5, failed=("head_level",), warned=("skin_hue",)),
        candidate("in/c.jpg", duplicate_of=0),
    ]
    first, second = shown(ranking_table(ranked, 2)).splitlines()[1:]
    assert first.split() == ["1", "[a].jpg", "-", "0.90", "1"]
    assert " ".join(second.split()) == "2 b.mp4 1:01.50 0.50 0 Head upright Natural skin colour"
    images = [candidate("in/a.jpg"), candidate("in/b.jpg")]
    assert " at " not in shown(ranking_table(images, 2))


def test_the_list_of_checks_cuts_nothing_off() -> None:
    entries = [entry_of(each, load_profile("core-4")) for each in RULES]
    for width in (80, 60):
        text = shown(check_list(entries), width)
        assert "…" not in text
        assert all(f"{entry.id} " in text for entry in entries)
    asked = sum("training-video" in entry.roles for entry in entries)
    assert shown(check_list(entries), 80).count("training-video") == asked > 1
