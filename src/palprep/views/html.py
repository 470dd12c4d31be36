"""HTML from templates, in which values from files and people are text and never markup."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2

from palprep.errors import UsageError
from palprep.escaping import escaped
from palprep.rules.texts import stamp
from palprep.views.consent_words import headline, legend, marked_words, stamped
from palprep.views.format import by_file, duration, file_gist, initials, position, size
from palprep.views.outcomes import OUTCOMES, SHADES, STATUSES


def languages_of(kind: str) -> tuple[str, ...]:
    """The languages (ISO 639-1) of ``guides`` or ``messages``, sorted."""
    files = resources.files("palprep.views").joinpath(kind).iterdir()
    return tuple(sorted(each.name.removesuffix(".toml") for each in files))


def words_in(kind: str, language: str) -> dict[str, Any]:
    """The words of ``guides`` or ``messages``. Raises UsageError for a missing language."""
    known = languages_of(kind)
    if language not in known:
        raise UsageError(f"There are no {kind} in {language!r}: choose one of {', '.join(known)}")
    file = resources.files("palprep.views").joinpath(kind, f"{language}.toml")
    return tomllib.loads(file.read_text("utf-8"))


def _harmless(value: object) -> object:
    """``value`` with control characters and marks of direction written out."""
    if not isinstance(value, str):
        return value
    # Markup has the method __html__, and stays markup.
    return type(value)(escaped(value)) if hasattr(value, "__html__") else escaped(value)


@functools.cache
def environment() -> jinja2.Environment:
    """The templates of this package, with every formatter as a filter."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("palprep.views"),
        autoescape=True,
        finalize=_harmless,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        filename=lambda path: Path(path).name,
        percent=lambda part, whole: round(100 * part / whole, 2),
        gist=file_gist,
    )
    for each in (by_file, duration, initials, position, size, stamp):
        made.filters[each.__name__] = each
    made.globals.update(
        outcomes=OUTCOMES,
        statuses=STATUSES,
        shades=SHADES,
        role_titles=words_in("messages", "en")["roles"],
    )
    for told in (headline, legend, marked_words, stamped):
        made.globals[told.__name__] = told
    return made


@functools.cache
def page_asset(name: str) -> str:
    """A style sheet or a script of this package, read once for thousands of pages."""
    if name.endswith(".css"):
        return environment().get_template(name).render()
    return resources.files("palprep.views").joinpath("templates", name).read_text("utf-8")
