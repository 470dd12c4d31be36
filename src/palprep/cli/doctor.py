"""palprep doctor: what is installed, what is missing, and how to get it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from palprep.cli.exits import ExitCode
from palprep.cli.options import AsJson
from palprep.cli.printing import print_json, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from palprep.cli.installation import Finding


def doctor(as_json: AsJson = False) -> None:
    """Show what is installed, which models are there, and how to add what is missing.

    The exit code is 1 when something is missing or broken that palprep cannot work without.
    """
    from palprep.cli.installation import examine

    findings = tuple(examine())
    if as_json:
        print_json({"findings": [finding.to_json() for finding in findings]})
    else:
        show(_view(findings))
    sound = all(finding.state == "ok" for finding in findings if finding.required)
    raise typer.Exit(ExitCode.OK if sound else ExitCode.FAILED)


def _view(findings: tuple[Finding, ...]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    styles = {"ok": "green", "missing": "yellow", "broken": "bold red"}
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    part = ""
    for finding in findings:
        detail = Text(finding.detail, overflow="fold")
        if finding.fix:
            detail.append(f"\n{finding.fix}", "bold")
        table.add_row(
            Text("" if finding.part == part else finding.part, "dim"),
            Text(finding.name),
            Text(finding.state, styles[finding.state]),
            detail,
        )
        part = finding.part
    return table
