"""Write docs/checks.md, the catalogue of all checks, and a page for each in docs/checks/, from the
rules and the default profile.

Run it after every change of a rule, a sentence or a limit. tests/rules/test_catalogue.py fails
until it was run.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from palprep.rules import (
    RULES,
    CatalogueEntry,
    CatalogueLimit,
    Profile,
    WordLimit,
    entry_of,
    load_profile,
)
from palprep.rules.texts.words import REASONS

DOCS = Path(__file__).parents[1] / "docs"

_INTRODUCTION = """\
# Checks

Every check that palprep makes has a page: what it asks, each sentence that it can say, its limits
with their sources, and what to do. The limits are those of the default profile, `{profile}`. Your
own profile can change them; the sentences stay true, because no sentence repeats a limit. What was
measured stands where a page shows *a word in italics*.

`palprep explain ID` shows the same on the command line, for any profile. `palprep check --verbose`
shows id, measure, limit and source under each finding. `palprep check --json` always has them.

Several checks can fail for one cause. Where no face is found, nothing that is asked of a face can
be met. The cause is told once, and the other checks name the check that tells it (`follows` in
JSON).
"""

_UNKNOWN = """\
## Why a check can be unknown

What was not measured is `unknown`, never `pass`. The report says why, in one of these sentences.
The reading of a statement of consent has reasons of its own, which name what is missing.
"""

_WORDS = """\
The statement is graded word by word, by these numbers. The free reading writes down what it hears;
the forced reading aligns the required statement with the audio. A log likelihood ratio is the
natural logarithm of P(required wording) / P(other wording), given the audio: at 0 both fit alike,
at 3 the required one is 20 times as probable.

| Id | Value | Unit | What it is | From where |
|---|---|---|---|---|"""

_UNITS = {
    "probability": "probability, 0 to 1",
    "likeness": "similarity in sound, 0 to 1",
    "similarity": "similarity in sound, 0 to 1",
    "ratio": "log likelihood ratio",
    "s": "seconds",
}
"""Unit of a number, by the end of its id."""


def catalogue(profile: Profile) -> dict[Path, str]:
    """Every page, as Markdown, by its path within docs/."""
    entries = [entry_of(rule_id, profile) for rule_id in sorted(RULES)]
    first = (
        _INTRODUCTION.format(profile=profile.name),
        *_index(entries),
        _UNKNOWN,
        *(f"- {each.reason} {each.advice or ''}".rstrip() for each in REASONS.values()),
        "",
    )
    own = {Path("checks", f"{each.id}.md"): "\n".join(_page(each)) for each in entries}
    return {Path("checks.md"): "\n".join(first), **own}


def _index(entries: list[CatalogueEntry]) -> Iterator[str]:
    yield "| Id | Label | Asked for in |"
    yield "|---|---|---|"
    for entry in entries:
        yield f"| [`{entry.id}`](checks/{entry.id}.md) | {entry.label} | {', '.join(entry.roles)} |"
    yield ""


def _page(entry: CatalogueEntry) -> Iterator[str]:
    yield f"# {entry.label}\n"
    yield f"Check `{entry.id}` · [all checks](../checks.md)\n"
    yield f"{' '.join(entry.text.split())}\n"
    if entry.predicts:
        yield f"Predicts: {entry.predicts}.\n"
    if entry.sentences:
        yield "What it says:\n"
    for each in entry.sentences:
        sentence = re.sub(r"{([a-z]+)}", r"*\1*", each.sentence)
        yield f"- {each.outcome}: {sentence}"
    if entry.sentences:
        yield ""
    yield f"What to do: {entry.advice}\n"
    yield "| Role | Level | Limit | Source |"
    yield "|---|---|---|---|"
    for limit in entry.limits:
        yield f"| {limit.role} | {limit.level.value} | {limit.limit} | {_source(limit)} |"
    yield ""
    if entry.words:
        yield _WORDS
        for word in entry.words:
            unit = _UNITS[word.id.rpartition("_")[2]]
            yield f"| `{word.id}` | {word.value:g} | {unit} | {word.text} | {_source(word)} |"
        yield ""


def _source(limit: CatalogueLimit | WordLimit) -> str:
    note = f"; {limit.note}" if limit.note else ""
    return f"{limit.source}, {limit.date}{note}"


if __name__ == "__main__":
    shutil.rmtree(DOCS / "checks", ignore_errors=True)
    (DOCS / "checks").mkdir()
    for page, text in catalogue(load_profile()).items():
        (DOCS / page).write_text(text, "utf-8")
