"""What a terminal shows: text as it is, never markup; and nothing that is not asked for."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, RenderableType

from palprep.journal.results import PersonStatus
from palprep.journal.run_view import PersonResult
from palprep.preflight.rank import Candidate
from palprep.rules.report import Check, Report, ReportError
from palprep.values import Outcome, Role
from palprep.views.terminal import ranking_table, report_view, results_table

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


def test_the_table_shows_ids_and_reasons_as_they_are() -> None:
    text = shown(results_table([result("done"), result("in_doubt", "bob")]))
    assert "v1" in text
    assert "in doubt" in text
    assert NASTY in text


REPORT = Report(
    path=NASTY,
    role=Role.FACE_IMAGE,
    profile="core-4",
    checks=(
        Check(id="image_format", label="Image format", outcome=Outcome.PASS, measured="jpeg"),
        Check(id="no_nudity", label="No nudity", outcome=Outcome.UNKNOWN),
        Check(id="image_metadata", label="Metadata", outcome=Outcome.WARN, measured=("gps", "icc"),
              limit="none", source="a guide", advice=NASTY),
        Check(id="person_centered", label="Centred", outcome=Outcome.FAIL, measured=0.41234567),
    ),
)  # fmt: skip


def test_a_report_tells_what_did_not_pass_worst_first() -> None:
    lines = shown(report_view(REPORT)).splitlines()
    assert lines[0].startswith(f"FAIL    {NASTY}  face-image, core-4")
    assert lines[1].split() == ["fail", "Centred", "0.4123"]
    assert lines[2].split() == ["warn", "Metadata", "gps,", "icc;", "wanted", "none"]
    assert [line.strip() for line in lines[3:]] == [
        *(NASTY, "a guide", "1 checks passed; unknown: no_nudity"),
    ]


def test_everything_is_listed_when_asked_for() -> None:
    text = shown(report_view(REPORT, everything=True))
    listed = sorted((check.label for check in REPORT.checks), key=text.index)
    assert listed == ["Centred", "Metadata", "No nudity", "Image format"]
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
        candidate("in/b.mp4", at_s=61.5, failed=("one",), warned=("two",)),
        candidate("in/c.jpg", duplicate_of=0),
    ]
    first, second = shown(ranking_table(ranked, 2)).splitlines()[1:]
    assert first.split() == ["1", "[a].jpg", "0.90", "1"]
    assert second.split() == ["2", "b.mp4", "1:01.50", "0.50", "0", "one,", "two"]
