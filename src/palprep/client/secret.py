"""A key that cannot be shown by accident."""

from __future__ import annotations

from typing import NoReturn

from palprep.api.redact import MASK


class Secret:
    """Holds a secret. Every way of showing it gives ``***``; only :meth:`reveal` returns it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The secret itself, for the one place that sends it."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({MASK!r})"

    def __str__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled; read it from its source where it is needed")
