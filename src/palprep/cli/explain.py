"""palprep explain: what a check means, its limits and where they come from."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palprep.cli.options import AsJson, ProfileName
from palprep.cli.printing import print_json, print_note, show, tell_notes
from palprep.errors import UsageError
from palprep.vocabulary import DEFAULT_PROFILE

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from palprep.rules.catalogue import CatalogueEntry, CatalogueLimit, WordLimit


def _ids() -> list[str]:
    from palprep.rules.registry import RULES

    return sorted(RULES)


EXAMPLES = (
    "palprep explain",
    "palprep explain video_duration --profile own.toml",
)


def explain(
    check_id: Annotated[
        str | None,
        typer.Argument(help="The id of a check; all when left out.", autocompletion=_ids),
    ] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Show a check's rule, its limits with their sources, and what to do when it fails."""
    from palprep.rules.catalogue import entry_of
    from palprep.rules.profile import load_profile
    from palprep.rules.registry import RULES
    from palprep.rules.renamed import RENAMED

    chosen = load_profile(profile)
    tell_notes(chosen)
    if check_id is not None and check_id in RENAMED:
        print_note(f"{check_id} is now called {RENAMED[check_id]}")
        check_id = RENAMED[check_id]
    if check_id is not None and check_id not in RULES:
        near = difflib.get_close_matches(check_id, RULES, n=1)
        hint = f"did you mean {near[0]}?" if near else "`palprep explain` lists all"
        raise UsageError(f"There is no check {check_id!r}; {hint}")
    entries = [entry_of(rule_id, chosen) for rule_id in ([check_id] if check_id else RULES)]
    if as_json:
        for entry in entries:
            print_json(entry.to_json())
    else:
        show(_page(entries[0]) if check_id else _list(entries))


def _list(entries: list[CatalogueEntry]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for entry in entries:
        table.add_row(
            Text(entry.id, "bold", no_wrap=True),
            entry.label,
            Text(", ".join(entry.roles) or "not in this profile", "dim"),
        )
    return table


def _page(entry: CatalogueEntry) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    from palprep.views.outcomes import OUTCOMES

    parts: list[Any] = [
        Text.assemble((entry.id, "bold"), f"  {entry.label}"),
        Padding(Text(entry.text), (1, 0, 1, 2)),
    ]
    parts += [
        Padding(Text(f"{each.outcome}: {each.sentence}"), (0, 0, 0, 2)) for each in entry.sentences
    ]
    if entry.predicts:
        parts.append(Text(f"  Predicts   {entry.predicts}"))
    parts.append(Text(f"  To fix it  {entry.advice}"))
    if not entry.limits:
        parts.append(Text(f"  Profile {entry.profile} does not ask for it."))
    for word in entry.words:
        line = Text(f"  {word.id}: {word.value:g}")
        line.append(f"\n      {word.text}")
        parts.append(_sourced(line, word))
    for limit in entry.limits:
        line = Text(f"  {limit.role}: ")
        line.append(f"{limit.limit}, else ")
        line.append(limit.level, OUTCOMES[limit.level].style)
        parts.append(_sourced(line, limit))
    return Group(*parts)


def _sourced(line: Text, limit: CatalogueLimit | WordLimit) -> Text:
    """The line, and below it where the number comes from."""
    line.append(f"\n      {limit.source} ({limit.date})", "dim")
    if limit.note:
        line.append(f"\n      {limit.note}", "dim")
    return line
