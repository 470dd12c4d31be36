"""palprep explain: what a check means, its limits and where they come from."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palprep.cli.options import AsJson, ProfileName, Quiet
from palprep.cli.output import print_json, show, tell, telling
from palprep.errors import UsageError
from palprep.vocabulary import DEFAULT_PROFILE, Outcome

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from palprep.rules import CatalogueEntry, CatalogueLimit, WordLimit


def _ids() -> list[str]:
    from palprep.rules import RULES

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
    quiet: Quiet = False,
) -> None:
    """Show a check's rule, its limits with their sources, and what to do when it fails."""
    from palprep.rules import RULES, entry_of, load_profile

    with telling(quiet=quiet):
        chosen = load_profile(profile)
        if check_id is not None and check_id not in RULES:
            raise UsageError(f"There is no check {check_id!r}; {_hint(check_id, RULES)}")
        entries = [entry_of(rule_id, chosen) for rule_id in ([check_id] if check_id else RULES)]
        if as_json:
            for entry in entries:
                print_json(entry.to_json())
        elif check_id:
            show(_page(entries[0]))
            tell("Next: `palprep check PATH --verbose` shows what was measured.")
        else:
            show(_list(entries))
            tell("Next: palprep explain CHECK_ID")


def _hint(missed: str, ids: Iterable[str]) -> str:
    """What may have been meant: an id that is spelt alike, or those that hold the word."""
    near = difflib.get_close_matches(missed, ids, n=1) or [each for each in ids if missed in each]
    return f"did you mean {' or '.join(near)}?" if near else "`palprep explain` lists all"


def _list(entries: list[CatalogueEntry]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    # An id is typed again: it is never cut.
    table.add_column(min_width=max(len(entry.id) for entry in entries))
    for entry in entries:
        table.add_row(
            Text(entry.id, "bold"),
            entry.label,
            Text(", ".join(entry.roles) or "not in this profile", "dim"),
        )
    return table


def _page(entry: CatalogueEntry) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    said = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for each in entry.sentences:
        sentence = each.sentence.replace("{", "<").replace("}", ">")
        said.add_row(Text(each.outcome, _style(each.outcome)), sentence)
    if entry.predicts:
        said.add_row("predicts", Text(entry.predicts))
    said.add_row("to do", Text(entry.advice))
    parts: list[Any] = [
        Text.assemble((entry.id, "bold"), f"  {entry.label}"),
        Padding(Text(entry.text), (1, 0, 1, 2)),
        Padding(said, (0, 0, 1, 2)),
    ]
    if not entry.limits:
        parts.append(Padding(Text(f"Profile {entry.profile} does not ask for it."), (0, 0, 0, 2)))
    for word in entry.words:
        parts += _sourced(Text(f"{word.id}: {word.value:g}"), word, word.text)
    for limit in entry.limits:
        line = Text(f"{limit.role}: {limit.limit}, else ")
        parts += _sourced(line.append(limit.level, _style(limit.level)), limit)
    return Group(*parts)


def _style(outcome: str) -> str:
    """The colour of an outcome; none for a sentence that is said of two."""
    from palprep.views import OUTCOMES

    return OUTCOMES[Outcome(outcome)].style if outcome in {*Outcome} else ""


def _sourced(
    line: Text, limit: CatalogueLimit | WordLimit, *meaning: str
) -> Iterator[RenderableType]:
    """The line, and below it what it means and where the number comes from."""
    from rich.padding import Padding
    from rich.text import Text

    yield Padding(line, (0, 0, 0, 2))
    for text in meaning:
        yield Padding(Text(text), (0, 0, 0, 6))
    for origin in (f"{limit.source} ({limit.date})", limit.note or ""):
        if origin:
            yield Padding(Text(origin, "dim"), (0, 0, 0, 6))
