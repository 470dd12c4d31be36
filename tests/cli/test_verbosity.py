"""--verbose, --quiet and --log-file: what is told where."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

from palprep.cli.verbosity import tell, tell_detail, tell_warning, telling
from palprep.errors import OutputUnwritable, UsageError


def tell_all() -> None:
    tell_detail("a detail")
    tell("a line\nof two")
    tell_warning("a warning")
    logging.getLogger("palprep.client").info("GET /v2/voices: 200 in 0.100 s")
    logging.getLogger("palprep.client").warning("unencrypted")


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({}, ["a line of two", "a warning", "unencrypted"]),
        ({"quiet": True}, ["a warning", "unencrypted"]),
        (
            {"verbose": True},
            [
                *("a detail", "a line of two", "a warning"),
                *("GET /v2/voices: 200 in 0.100 s", "unencrypted"),
            ],
        ),
    ],
)
def test_what_reaches_standard_error(
    options: dict[str, bool], lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with telling(**options):
        tell_all()
    tell("not any more")
    said = capsys.readouterr()
    assert said.err.splitlines() == lines
    assert said.out == ""


def test_the_file_holds_everything_with_times_and_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "run.log"
    for _ in range(2):
        with telling(quiet=True, log_file=path):
            tell_all()
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) == 10
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
    assert re.fullmatch(rf"{stamp} DEBUG palprep\.cli: a detail", lines[0])
    assert lines[4].endswith("WARNING palprep.client: unencrypted")


def test_what_makes_no_sense(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not both"), telling(verbose=True, quiet=True):
        pytest.fail("entered")
    (tmp_path / "file").write_text("")
    taken = tmp_path / "file" / "run.log"
    with pytest.raises(OutputUnwritable, match="another --log-file"), telling(log_file=taken):
        pytest.fail("entered")
