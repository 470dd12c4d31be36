"""The exit code of a run."""

from __future__ import annotations

import pytest

from palprep.cli.exits import ExitCode
from palprep.cli.results import exit_code_of_results
from palprep.journal.results import PersonStatus
from palprep.journal.run_view import PersonResult


def result(status: PersonStatus, person: str = "ada", *, at_service: bool = False) -> PersonResult:
    return PersonResult(
        person=person,
        status=status,
        voice_id="v1",
        voice_status="completed",
        replica_id=None,
        replica_status=None,
        reasons=("because",) if status != "done" else (),
        assets=(),
        at_service=at_service,
    )


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        (["done"], ExitCode.OK),
        (["done", "waiting"], ExitCode.OK),
        (["done", "refused"], ExitCode.FAILED),
        (["refused", "failed"], ExitCode.FAILED),
        (["failed", "in_doubt", "refused"], ExitCode.IN_DOUBT),
    ],
)
def test_the_worst_person_decides(statuses: list[PersonStatus], code: ExitCode) -> None:
    assert exit_code_of_results(map(result, statuses)) is code


@pytest.mark.parametrize("status", ["refused", "failed"])
def test_what_the_service_refused_is_told_from_what_a_file_lacks(status: PersonStatus) -> None:
    people = [result("refused"), result(status, at_service=True)]
    assert exit_code_of_results(people) is ExitCode.SERVICE
    assert "at_service" not in people[1].to_json()
