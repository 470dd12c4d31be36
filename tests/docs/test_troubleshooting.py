"""What the page about troubles quotes is what palprep says."""

from __future__ import annotations

import ast
from pathlib import Path


def words_of_palprep(source: Path) -> str:
    """Every string in the source, one in a line; f-strings in the pieces between their values.
    The words of rules lie beside it, as data.
    """
    return (source / "rules/texts/en.toml").read_text("utf-8") + "\n".join(
        node.value
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def test_every_message_that_is_quoted_is_said(checkout: Path) -> None:
    page = (checkout / "docs/guides/troubleshooting.md").read_text("utf-8")
    palprep_says = page[page.index("## Files") : page.index("## Report")]
    seen = [line.split(" | ")[0] for line in palprep_says.splitlines() if line.startswith("| ")]
    quoted = [text for cell in seen for text in cell.split("`")[1::2] if text != "run"]
    assert len(quoted) > 8
    said = words_of_palprep(checkout / "src/palprep")
    assert [text for text in quoted if text not in said] == []
