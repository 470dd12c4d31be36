"""Choices from words, as a command line or a file of settings holds them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from palprep.errors import UsageError
from palprep.sandbox.choices import Choices


def chosen(words: Iterable[str], **given: Any) -> Choices:
    """The choices that ``given`` and then ``words`` make; each word is ``NAME=VALUE``.

    A name is spelt as ``GET /_sandbox/choices`` spells it, or as :class:`Choices` does. A value is
    JSON, or a text. Raises :class:`~palprep.errors.UsageError` for anything else.
    """
    values: dict[str, Any] = dict(given)
    for word in words:
        name, equals, text = word.partition("=")
        member = name.replace("-", "_")
        if not equals or member not in Choices.model_fields:
            near = get_close_matches(member, Choices.model_fields, n=1)
            meant = f" Did you mean {near[0].replace('_', '-')}?" if near else ""
            raise UsageError(f"{word!r} is no NAME=VALUE of GET /_sandbox/choices.{meant}")
        values[member] = _value(text)
    try:
        return Choices.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).replace("_", "-")
        raise UsageError(f"The choice {name} is wrong: {first['msg']}.") from None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
