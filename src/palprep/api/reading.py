"""Where a record is not as the specification shows it: what strict reading and seeds ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError

from palprep.api.problems import UNKNOWN_MEMBER, problems_in
from palprep.api.wire import STRICTLY, Reply
from palprep.errors import Problem


def deviations(kind: type[Reply], body: Any, *, closed: bool = True) -> tuple[Problem, ...]:
    """Every member of ``body``, parsed JSON, that is not as ``kind`` declares it.

    With ``closed`` members that it does not declare count too.
    """
    try:
        record = kind.model_validate(_with_tuples(body), strict=True, context=STRICTLY)
    except ValidationError as error:
        return tuple(problems_in(error, ""))
    except RecursionError:
        return (Problem("", "json", "is nested too deeply"),)
    return tuple(_unknown(record, "")) if closed else ()


def _with_tuples(value: Any) -> Any:
    """JSON with its arrays as tuples, which strict validation knows from other sequences."""
    if isinstance(value, dict):
        return {name: _with_tuples(part) for name, part in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value


def _unknown(value: Any, at: str) -> Iterator[Problem]:
    """Members of records, at any depth, that their classes do not declare."""
    if isinstance(value, Reply):
        for name in value.model_extra or ():
            yield Problem(at + name, "extra_forbidden", UNKNOWN_MEMBER)
        parts: Iterable[tuple[Any, Any]] = value.__dict__.items()
    elif isinstance(value, tuple):
        parts = enumerate(value)
    else:
        return
    for name, part in parts:
        yield from _unknown(part, f"{at}{name}.")
