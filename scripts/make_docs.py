"""Write what documentation is generated: the library, errors, bounds of speed, JSON schemas,
drawings.

    uv run scripts/make_docs.py

A test compares the files with what this would write.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

import palprep
from benchmark_bounds import table
from draw_diagrams import drawings
from library_pages import library_pages, page_of
from palprep import errors
from palprep.batch import Forgetting
from palprep.cli.doctor import Finding
from palprep.consent import ConsentFacts
from palprep.consent.wording import CodeReading
from palprep.journal.runs import JournalHead, PersonStanding

DOCS = Path(__file__).resolve().parents[1] / "docs"


class JournalStatus(JournalHead):
    """A journal at one moment, as ``palprep status --json`` prints it."""

    people: tuple[PersonStanding, ...]


_CHECK = palprep.Check(id="", label="", outcome=palprep.Outcome.PASS)
_REPORT = palprep.Report(path="", role=None, profile="", checks=(_CHECK,))
_HEARD = ConsentFacts(
    outcome=palprep.Outcome.FAIL, transcript="", starts_at=None, ends_at=None, words=(),
    reasons=(), statement="", full_name="", language="",
)  # fmt: skip


def generated() -> Iterator[tuple[Path, str]]:
    """Every generated file and its text."""
    yield from drawings()
    yield DOCS / "reference/errors.md", errors_page()
    for place, text in library_pages():
        yield DOCS / "reference" / place, text
    page = DOCS / "performance.md"
    yield page, filled(page.read_text(encoding="utf-8"), "performance", table())
    for name, (title, schema) in schemas().items():
        yield schema_file(name, title, open_to_more(schema))
    row = palprep.ManifestRow.model_json_schema()
    yield schema_file("manifest", "palprep run MANIFEST: one object for each person", row)


def schema_file(name: str, title: str, schema: dict[str, Any]) -> tuple[Path, str]:
    """The file of a schema, and its text."""
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **only_used(lifted(schema)),
        "title": title,
    }
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    return DOCS / f"reference/schemas/{name}.json", f"{text}\n"


def filled(page: str, name: str, text: str) -> str:
    """The page with this text between the marks of that name."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}{text}{end}{after}"


def errors_page() -> str:
    """The tree of errors, with what each means and what to do."""
    rows = "\n".join(
        f"| [`{name}`]({page_of(name)}) | `{kind.code}` | {_meaning(kind)} |"
        for kind in _below(errors.PalprepError)
        for name in (kind.__name__,)
    )
    tree = "\n".join(_tree(errors.PalprepError))
    return f"""\
# Errors

Every error that palprep raises derives from `PalprepError`. Its text says what happened and what to
do. `code` is a stable name for programs, in the JSON of reports, too. Bad media is no error of
`check`: it gives a report that fails, with the code and the message.

```text
{tree}
```

| Error | `code` | What it means, and what to do |
|---|---|---|
{rows}

An error can be pickled, to cross from one process to another. None holds a secret.
"""


def _tree(kind: type[errors.PalprepError], indent: str = "") -> Iterator[str]:
    """The names of an error and of those below it, one on a line."""
    yield f"{indent}{kind.__name__}"
    for each in _own(kind):
        yield from _tree(each, f"{indent}    ")


def _below(kind: type[errors.PalprepError]) -> Iterator[type[errors.PalprepError]]:
    yield kind
    for each in _own(kind):
        yield from _below(each)


def _own(kind: type[errors.PalprepError]) -> list[type[errors.PalprepError]]:
    """The errors next below it, and not those of a test."""
    return [each for each in kind.__subclasses__() if each.__module__ == errors.__name__]


def _meaning(kind: type[errors.PalprepError]) -> str:
    first = inspect.cleandoc(kind.__doc__ or "").split("\n\n", maxsplit=1)[0]
    return re.sub(r"``([^`]+)``", r"`\1`", " ".join(first.split()))


def schemas() -> Mapping[str, tuple[str, dict[str, Any]]]:
    """The shape of every JSON output: its title and schema, by the name of its file."""
    report = narrowed(schema_of(palprep.Report), _REPORT.to_json())
    report["$defs"]["Check"] = narrowed(report["$defs"]["Check"], _REPORT.to_json()["checks"][0])
    consent = narrowed(schema_of(ConsentFacts), _HEARD.shown(""))
    consent["properties"] |= {"code": schema_of(CodeReading)}
    result = schema_of(palprep.PersonResult)
    return {
        "check": ("palprep check --json: one object for each file", report),
        "fix": ("palprep fix --json: one object for each file", fix_schema()),
        "consent": ("palprep consent --json", extended(consent, {"path": {"type": "string"}})),
        "decision": ("palprep decide --json", schema_of(palprep.ConsentDecision)),
        "result": (
            "results.jsonl and palprep run --json: one object for each person",
            extended(result, {"assets": many("check.json")}),
        ),
        "status": ("palprep status --json", schema_of(JournalStatus)),
        "forget": ("palprep forget --json", schema_of(Forgetting)),
        "best": ("palprep best --json: one object for each image", schema_of(palprep.Candidate)),
        "doctor": ("palprep doctor --json", doctor_schema()),
    }


def fix_schema() -> dict[str, Any]:
    """A report with the new file, and where there are any, the dossier and the consent video."""
    done = {"type": "array", "items": schema_of(palprep.FixDone)}
    path = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    always = extended({"$ref": "check.json"}, {"prepared": path, "fixes": done})
    sometimes = {"dossier": {"type": "string"}, "consent": {"$ref": "fix.json"}}
    return {**always, "properties": always["properties"] | sometimes}


def doctor_schema() -> dict[str, Any]:
    """One finding for each part of the installation."""
    findings = {"type": "array", "items": schema_of(Finding)}
    return extended({"type": "object"}, {"findings": findings})


def many(file: str) -> dict[str, Any]:
    """A list of what another file describes."""
    return {"type": "array", "items": {"$ref": file}}


def schema_of(kind: type) -> dict[str, Any]:
    """The schema of a value as JSON. Everything in it is always there."""
    return _all_required(TypeAdapter(kind).json_schema(mode="serialization"))


def _all_required(schema: dict[str, Any]) -> dict[str, Any]:
    for each in (schema, *schema.get("$defs", {}).values()):
        if "properties" in each:
            each["required"] = sorted(each["properties"])
    return schema


def narrowed(schema: dict[str, Any], sample: Mapping[str, Any]) -> dict[str, Any]:
    """Only what is printed, in the order in which it is."""
    known = schema["properties"]
    kept = {key: known[key] for key in sample if key in known}
    return {**schema, "properties": kept, "required": sorted(kept)}


def extended(schema: dict[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """With more properties, which are always there."""
    every = {**schema.get("properties", {}), **properties}
    required = sorted({*schema.get("required", ()), *properties})
    return {**schema, "properties": every, "required": required}


def open_to_more(schema: Any) -> Any:
    """Without a ban on other members: a later version may add some."""
    if isinstance(schema, dict):
        return {
            key: open_to_more(value)
            for key, value in schema.items()
            if key != "additionalProperties" or value is not False
        }
    return [open_to_more(each) for each in schema] if isinstance(schema, list) else schema


def lifted(schema: dict[str, Any]) -> dict[str, Any]:
    """With the definitions of inner schemas at the top, where references look for them."""
    found: dict[str, Any] = {}

    def without(part: Any) -> Any:
        if isinstance(part, dict):
            found.update(part.get("$defs", {}))
            return {key: without(each) for key, each in rest_of(part).items()}
        return [without(each) for each in part] if isinstance(part, list) else part

    bare = without(schema)
    return {**bare, "$defs": {name: without(each) for name, each in found.items()}}


def only_used(schema: dict[str, Any]) -> dict[str, Any]:
    """Without definitions that nothing refers to any more."""
    defs = schema.get("$defs", {})
    found: set[str] = set()
    rest: list[Any] = [rest_of(schema)]
    while rest:
        names = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(rest.pop()))) - found
        found |= names
        rest += [defs[name] for name in names]
    kept = {name: each for name, each in defs.items() if name in found}
    return {**rest_of(schema), **({"$defs": kept} if kept else {})}


def rest_of(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without its definitions."""
    return {key: value for key, value in schema.items() if key != "$defs"}


def main() -> None:
    """Write every file."""
    for path, text in generated():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
