"""The required statements, one file per language, and how a user's own one is read."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from palprep.errors import UsageError

PLACEHOLDER = "{full_name}"


def required_statement(*, profile: str = "default", language: str = "en") -> str:
    """The template for a profile and a language (ISO 639-1), with ``{full_name}`` in it.

    Raises UsageError for a language that no statement is known in: give the service's own.
    """
    file = resources.files(__name__).joinpath(f"{language}.toml")
    if not language.isalpha() or not file.is_file():
        raise UsageError(
            f"No consent statement is known in {language!r}: give the text that your service "
            "demands, with --statement FILE, or as statement in person.toml or the manifest"
        )
    return _choose(tomllib.loads(file.read_text("utf-8")), profile, f"{language}.toml")


def read_statement(path: str | Path, *, profile: str = "default") -> str:
    """A user's statement: a TOML file laid out like palprep's own, or plain text.

    The name stands in it as ``{full_name}`` or as itself. Raises UsageError when it cannot be
    read or is empty.
    """
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The statement {path} cannot be read as text: {error}") from None
    if Path(path).suffix.lower() == ".toml":
        try:
            return _choose(tomllib.loads(text), profile, str(path))
        except tomllib.TOMLDecodeError as error:
            raise UsageError(f"The statement {path} is not valid TOML: {error}") from None
    return _checked(text, str(path))


def fill_statement(template: str, full_name: str) -> str:
    """The statement as it must be spoken, on one line.

    A template without the placeholder must hold the very name: a statement that names nobody,
    or somebody else, is nobody's consent. Raises UsageError for such a one, or without a name.
    """
    name = " ".join(full_name.split())
    if not any(char.isalpha() for char in name):
        raise UsageError("The full name of the person who speaks is needed")
    text = " ".join(template.split())
    if PLACEHOLDER not in text and not _names(text, name):
        raise UsageError(
            f"The consent statement names nobody called {name}: write {PLACEHOLDER} where the "
            "name is said"
        )
    return text.replace(PLACEHOLDER, name)


def open_statement(text: str, full_name: str) -> str:
    """The statement with ``{full_name}`` in the place of this name."""
    return text if PLACEHOLDER in text else _name(full_name).sub(PLACEHOLDER, text)


def _names(text: str, name: str) -> bool:
    return _name(name).search(text) is not None


def _name(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


def _choose(data: dict[str, Any], profile: str, where: str) -> str:
    statements = data.get("statements")
    if not isinstance(statements, dict):
        raise UsageError(f"{where} has no [statements] table")
    text = statements.get(profile, statements.get("default"))
    if not isinstance(text, str):
        raise UsageError(f"{where} has no statement for {profile!r} and no default")
    return _checked(text, where)


def _checked(text: str, where: str) -> str:
    if not text.strip():
        raise UsageError(f"The statement {where} is empty")
    return text.strip()
