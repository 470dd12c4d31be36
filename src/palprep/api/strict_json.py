"""JSON as strangers send it, read so that it can be kept and sent on."""

from __future__ import annotations

import json
import math
from typing import Any, Never


def json_value(body: bytes, *, halves: bool = False) -> Any:
    """The value of a JSON text in UTF-8 (RFC 8259, section 8.1): numbers are finite, nesting ends,
    and no half of a character stands alone. Raises ValueError, which says what is wrong.

    With ``halves`` they may: a sender that cuts a text after so many UTF-16 units makes them.
    """
    text = body.decode("utf-8-sig")
    try:
        value = json.loads(text, parse_constant=_not_finite, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not halves and "\\u" in text:
        _require_whole(value)
    return value


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _not_finite(text)


def _not_finite(text: str) -> Never:
    raise ValueError(f"{text} is not a finite number")


def _require_whole(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise ValueError(f"{half} is half a character, and its other half is missing") from None
