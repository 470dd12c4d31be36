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

    from palprep.rules.profile import Profile


def explain(
    check_id: Annotated[
        str | None, typer.Argument(help="The id of a check; all when left out.")
    ] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Show a check's rule, its limits with their sources, and what to do when it fails."""
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
    entries = [_entry(rule_id, chosen) for rule_id in ([check_id] if check_id else RULES)]
    if as_json:
        for entry in entries:
            print_json(entry)
    else:
        show(_page(entries[0]) if check_id else _list(entries))


PAIR = "pair"
"""Stands for the role of limits that two files are held against."""


def _entry(rule_id: str, profile: Profile) -> dict[str, Any]:
    from palprep.rules.consent import ConsentSpoken
    from palprep.rules.registry import RULES
    from palprep.values import Role

    rule = RULES[rule_id]
    limits = [
        {"role": role.value, "limit": limit.words(rule.unit), **limit.to_json()}
        for role in Role
        for limit in profile.for_role(role).get(rule_id, ())
    ] + [
        {"role": PAIR, "limit": limit.words(rule.unit), **limit.to_json()}
        for limit in profile.pairs.get(rule_id, ())
    ]
    words = [
        {"id": name, "text": text, **getattr(profile.consent, name).to_json()}
        for name, text in profile.consent.texts().items()
        if rule_id == ConsentSpoken.id
    ]
    return {
        "id": rule.id,
        "label": rule.label,
        "text": rule.text(),
        "unit": rule.unit,
        "predicts": rule.predicts,
        "advice": rule.advice,
        "profile": profile.name,
        "limits": limits,
        "words": words,
    }


def _list(entries: list[dict[str, Any]]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for entry in entries:
        roles = sorted({limit["role"] for limit in entry["limits"]})
        table.add_row(
            Text(entry["id"], "bold", no_wrap=True),
            entry["label"],
            Text(", ".join(roles) or "not in this profile", "dim"),
        )
    return table


def _page(entry: dict[str, Any]) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    from palprep.views.outcomes import OUTCOMES

    parts: list[Any] = [
        Text.assemble((entry["id"], "bold"), f"  {entry['label']}"),
        Padding(Text(entry["text"]), (1, 0, 1, 2)),
    ]
    if entry["predicts"]:
        parts.append(Text(f"  Predicts   {entry['predicts']}"))
    parts.append(Text(f"  To fix it  {entry['advice']}"))
    if not entry["limits"]:
        parts.append(Text(f"  Profile {entry['profile']} does not ask for it."))
    for limit in entry["words"]:
        line = Text(f"  {limit['id']}: {limit['value']:g}")
        line.append(f"\n      {limit['text']}")
        parts.append(_sourced(line, limit))
    for limit in entry["limits"]:
        line = Text(f"  {limit['role']}: ")
        line.append(limit["level"], OUTCOMES[limit["level"]].style)
        line.append(f" unless {limit['limit']}")
        parts.append(_sourced(line, limit))
    return Group(*parts)


def _sourced(line: Text, limit: dict[str, Any]) -> Text:
    """The line, and below it where the number comes from."""
    line.append(f"\n      {limit['source']} ({limit['date']})", "dim")
    if limit["note"]:
        line.append(f"\n      {limit['note']}", "dim")
    return line
