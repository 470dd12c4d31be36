"""palprep doctor: what is installed, what is missing, and how to get it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from palprep.cli.exits import ExitCode
from palprep.cli.options import AsJson, Verbose
from palprep.cli.output import print_json, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from palprep.cli.installation import Finding


EXAMPLES = (
    "palprep doctor",
    "palprep doctor --verbose",
)


def doctor(as_json: AsJson = False, verbose: Verbose = False) -> None:
    """Show what is installed, which models are there, and how to add what is missing.

    --verbose lists everything, with versions, licences and hashes. The exit code is 1 when
    something is missing or broken that palprep cannot work without.
    """
    from palprep.cli.installation import examine

    findings = tuple(examine())
    sound = all(finding.state == "ok" for finding in findings if finding.required)
    if as_json:
        print_json({"findings": [finding.to_json() for finding in findings]})
    else:
        show(_table(findings if verbose else tuple(_short(findings))))
        show(_SOUND if sound else _WANTING)
    raise typer.Exit(ExitCode.OK if sound else ExitCode.FAILED)


_SOUND = "Everything that palprep needs is there.\nNext: palprep check PATH"
_WANTING = (
    "Something is missing or broken that palprep cannot work without.\n"
    "Next: run the commands above, then this one again."
)


def _short(findings: tuple[Finding, ...]) -> Iterator[Finding]:
    """What needs attention, and one line for all of a kind that is well."""
    for part, found in itertools.groupby(findings, key=lambda finding: finding.part):
        group = tuple(found)
        well = [finding for finding in group if finding.state == "ok"]
        if len(well) > 1:
            # The packages are too many to be named.
            named = "" if part == "package" else ", ".join(finding.name for finding in well)
            yield well[0].model_copy(update={"name": f"{len(well)} {part}s", "detail": named})
        else:
            yield from well
        yield from (finding for finding in group if finding.state != "ok")


def _table(findings: tuple[Finding, ...]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    styles = {"ok": "green", "missing": "yellow", "broken": "bold red"}
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    part = ""
    for finding in findings:
        detail = Text(finding.detail, overflow="fold")
        if finding.fix and finding.fix not in finding.detail:
            detail.append(f"\n{finding.fix}", "bold")
        table.add_row(
            Text("" if finding.part == part else finding.part, "dim"),
            Text(finding.name),
            Text(finding.state, styles[finding.state]),
            detail,
        )
        part = finding.part
    return table
