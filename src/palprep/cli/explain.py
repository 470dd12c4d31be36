"""palprep explain: what a check means, its limits and where they come from."""

from __future__ import annotations

from typing import Annotated

import typer

from palprep import rules, views
from palprep.cli import options
from palprep.cli.output import print_json, show, tell, telling
from palprep.errors import UsageError
from palprep.vocabulary import DEFAULT_PROFILE, did_you_mean

EXAMPLES = ("palprep explain", "palprep explain video_duration --profile own.toml")


def explain(
    check_id: Annotated[
        str | None,
        typer.Argument(
            help="The id of a check; all when left out.", autocompletion=lambda: sorted(rules.RULES)
        ),
    ] = None,
    profile: options.ProfileName = DEFAULT_PROFILE,
    as_json: options.AsJson = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also show the thresholds behind it.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    with telling(quiet=quiet):
        chosen = rules.load_profile(profile)
        if check_id is not None and check_id not in rules.RULES:
            hint = did_you_mean(check_id, rules.RULES, "`palprep explain` lists all")
            raise UsageError(f"There is no check {check_id!r}; {hint}")
        ids = [check_id] if check_id else [*rules.RULES]
        entries = [rules.entry_of(rule_id, chosen) for rule_id in ids]
        if as_json:
            for entry in entries:
                print_json(entry.to_json())
        elif check_id:
            show(views.explained_check(entries[0], verbose=verbose))
            if entries[0].words and not verbose:
                tell("The thresholds behind it are shown with --verbose.")
            tell("Next: `palprep check PATH --verbose` shows what was measured.")
        else:
            show(views.check_list(entries))
            tell("Next: palprep explain CHECK_ID")
