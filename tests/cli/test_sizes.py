"""How much, as command lines say it."""

from __future__ import annotations

import pytest
import typer

from palprep.cli.sizes import size_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [("800000", 800_000), ("500MB", 500_000_000), ("2GiB", 1 << 31), ("1.5g", 1_500_000_000),
     ("64 kib", 65_536), ("7B", 7)],
)  # fmt: skip
def test_sizes(text: str, size: int) -> None:
    assert size_bytes(text) == size


@pytest.mark.parametrize("text", ["", "much", "-3", "4 pieces", "MB", "0", "i"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="write 500MB or 2GiB"):
        size_bytes(text)
