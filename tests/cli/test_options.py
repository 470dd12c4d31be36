"""How long and how much, as command lines say it."""

from __future__ import annotations

import pytest
import typer

from palprep.cli.app import COMMANDS, load
from palprep.cli.options import seconds, size_bytes


@pytest.mark.parametrize(
    ("text", "length"),
    [("90", 90), ("90s", 90), ("15m", 900), ("1.5h", 5400), ("2D", 172_800), ("0", 0)],
)
def test_durations(text: str, length: float) -> None:
    assert seconds(text) == length


@pytest.mark.parametrize("text", ["", "soon", "-3", "4 weeks", "h", "99999999d", "9" * 400])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="write 90s, 15m, 4h or 2d"):
        seconds(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("800000", 800_000), ("500MB", 500_000_000), ("2GiB", 1 << 31), ("1.5g", 1_500_000_000),
     ("64 kib", 65_536), ("7B", 7), ("4Gi", 1 << 32)],
)  # fmt: skip
def test_sizes(text: str, size: int) -> None:
    assert size_bytes(text) == size


@pytest.mark.parametrize(
    "text",
    ["", "much", "-3", "4 pieces", "MB", "0", "i", "99999999999GB", "9" * 400, "1,5GB", "8 bit"],
)
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="write 500MB or 2GiB"):
        size_bytes(text)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_more_or_less_and_keeps_a_log(name: str) -> None:
    given = {option for each in load(name).params for option in each.opts}
    assert given >= {"--verbose", "--quiet", "--log-file", "--log-format"}


def test_an_option_wins_over_a_variable_that_says_the_opposite(palprep, monkeypatch) -> None:
    monkeypatch.setenv("PALPREP_QUIET", "1")
    assert "unsaid_word_probability" in palprep("explain", "consent_spoken", "--verbose").out
    both = palprep("explain", "consent_spoken", "--verbose", "--quiet")
    assert (both.code, both.err) == (2, "palprep: Give --verbose or --quiet, not both\n")


def test_a_log_holds_the_summary_that_json_leaves_out(palprep, tmp_path) -> None:
    path, log = tmp_path / "ada.jpg", tmp_path / "log"
    path.write_bytes(b"no image")
    told = palprep("check", path, "--json", "--log-file", log)
    assert told.err == ""
    assert "1 file: 1 could not be read." in log.read_text()
