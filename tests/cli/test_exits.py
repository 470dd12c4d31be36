"""One exit code for every error, and the worst of several."""

from __future__ import annotations

import pytest

from palprep import errors
from palprep.cli.exits import ExitCode, exit_code_of, worst


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError("x"), ExitCode.USAGE),
        (errors.ProfileError("x"), ExitCode.USAGE),
        (errors.InvalidRequest("x", field="tags"), ExitCode.USAGE),
        (errors.FileMissing("x"), ExitCode.FAILED),
        (errors.DamagedMedia("x"), ExitCode.FAILED),
        (errors.OutputUnwritable("x"), ExitCode.FAILED),
        (errors.OutputUnwritable("x", disk_full=True), ExitCode.SERVICE),
        (errors.NoWorkers("x"), ExitCode.SERVICE),
        (errors.ToolMissing("x"), ExitCode.FAILED),
        (errors.ToolFailed("x"), ExitCode.FAILED),
        (errors.JournalError("x"), ExitCode.FAILED),
        (errors.JournalError("x", disk_full=True), ExitCode.SERVICE),
        (errors.PublishError("x"), ExitCode.SERVICE),
        (errors.ClusterFailed("x"), ExitCode.SERVICE),
        (errors.PermissionDenied("x", status=403), ExitCode.SERVICE),
        (errors.UnexpectedReply("x"), ExitCode.SERVICE),
        (errors.UnexpectedReply("x", carried_out=True), ExitCode.IN_DOUBT),
        (errors.ServiceUnreachable("x"), ExitCode.SERVICE),
        (errors.WaitTimeout("x"), ExitCode.SERVICE),
        (errors.OutcomeUnknown("x"), ExitCode.IN_DOUBT),
        (errors.CreationUnrecorded("x"), ExitCode.IN_DOUBT),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_every_error_has_its_code(error: errors.PalprepError, code: ExitCode) -> None:
    assert exit_code_of(error) is code


def test_doubt_outweighs_refusal_and_refusal_failure() -> None:
    assert worst([]) is ExitCode.OK
    assert worst([ExitCode.OK, ExitCode.FAILED]) is ExitCode.FAILED
    assert worst([ExitCode.FAILED, ExitCode.SERVICE, ExitCode.OK]) is ExitCode.SERVICE
    assert worst([ExitCode.SERVICE, ExitCode.IN_DOUBT]) is ExitCode.IN_DOUBT
