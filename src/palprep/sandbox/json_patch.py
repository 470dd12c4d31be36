"""JSON Patch (RFC 6902) on JSON values. The document that is given stays unchanged."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from palprep.errors import PalprepError

_INDEX = re.compile(r"0|[1-9][0-9]*")


class BadPatch(PalprepError):
    """A patch that is malformed or does not apply; the text says which operation and why."""

    code = "bad_patch"


def apply_patch(
    document: Any, operations: Any, *, max_operations: int = 100, max_bytes: int = 1024 * 1024
) -> Any:
    """The patched copy of ``document``, at most ``max_bytes`` of JSON.

    Raises :class:`BadPatch`; then nothing has changed.
    """
    if not isinstance(operations, Sequence) or isinstance(operations, str):
        raise BadPatch("a patch is an array of operations")
    if len(operations) > max_operations:
        raise BadPatch(f"a patch has at most {max_operations} operations")
    result = copy.deepcopy(document)
    for number, operation in enumerate(operations):
        try:
            result = _apply(result, operation)
            # What a patch adds is as large as the patch. A copy doubles, each time.
            if operation["op"] == "copy" or number == len(operations) - 1:
                _bounded(result, max_bytes)
        except RecursionError:
            raise BadPatch(f"operation {number}: nested too deeply") from None
        except BadPatch as error:
            raise BadPatch(f"operation {number}: {error}") from None
    return result


def _bounded(document: Any, max_bytes: int) -> None:
    if len(json.dumps(document)) > max_bytes:
        raise BadPatch(f"the result is more than {max_bytes} bytes")


def changed_members(operations: Sequence[Mapping[str, Any]]) -> set[str]:
    """The top-level members that these well-formed operations write to; "" is the whole."""
    pointers = [op["path"] for op in operations if op["op"] != "test"]
    pointers += [op["from"] for op in operations if op["op"] == "move"]
    return {(_parts(pointer) or [""])[0] for pointer in pointers}


def _apply(document: Any, operation: Any) -> Any:
    if not isinstance(operation, Mapping) or not isinstance(operation.get("path"), str):
        raise BadPatch("an operation is an object with op and path")
    name = operation.get("op")
    act = _OPERATIONS.get(name) if isinstance(name, str) else None
    if act is None:
        raise BadPatch(f"unknown op {name!r}")
    return act(document, _parts(operation["path"]), operation)


def _parts(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise BadPatch(f"{pointer!r} is not a JSON Pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _member(operation: Mapping[str, Any], name: str) -> Any:
    if name not in operation:
        raise BadPatch(f"{operation['op']} needs {name}")
    return copy.deepcopy(operation[name])


def _source(operation: Mapping[str, Any]) -> list[str]:
    pointer = _member(operation, "from")
    if not isinstance(pointer, str):
        raise BadPatch("from is not a JSON Pointer")
    return _parts(pointer)


def _index(part: str, end: int) -> int:
    if not _INDEX.fullmatch(part) or int(part) > end:
        raise BadPatch(f"there is no index {part!r}")
    return int(part)


def _step(value: Any, part: str) -> Any:
    if isinstance(value, dict) and part in value:
        return value[part]
    if isinstance(value, list):
        return value[_index(part, len(value) - 1)]
    raise BadPatch(f"there is no member {part!r}")


def _find(document: Any, parts: list[str]) -> Any:
    for part in parts:
        document = _step(document, part)
    return document


def _put(document: Any, parts: list[str], value: Any) -> Any:
    if not parts:
        return value
    holder, last = _find(document, parts[:-1]), parts[-1]
    if isinstance(holder, dict):
        holder[last] = value
    elif isinstance(holder, list):
        holder.insert(len(holder) if last == "-" else _index(last, len(holder)), value)
    else:
        raise BadPatch(f"nothing can be added at {last!r}")
    return document


def _drop(document: Any, parts: list[str]) -> Any:
    if not parts:
        return None
    holder, last = _find(document, parts[:-1]), parts[-1]
    _step(holder, last)
    del holder[int(last) if isinstance(holder, list) else last]
    return document


def _add(document: Any, parts: list[str], operation: Mapping[str, Any]) -> Any:
    return _put(document, parts, _member(operation, "value"))


def _remove(document: Any, parts: list[str], _: Mapping[str, Any]) -> Any:
    return _drop(document, parts)


def _replace(document: Any, parts: list[str], operation: Mapping[str, Any]) -> Any:
    value = _member(operation, "value")
    _find(document, parts)
    return _put(_drop(document, parts), parts, value)


def _move(document: Any, parts: list[str], operation: Mapping[str, Any]) -> Any:
    source = _source(operation)
    if parts[: len(source)] == source and parts != source:
        raise BadPatch("a value cannot be moved into itself")
    value = _find(document, source)
    return _put(_drop(document, source), parts, value)


def _copy(document: Any, parts: list[str], operation: Mapping[str, Any]) -> Any:
    return _put(document, parts, copy.deepcopy(_find(document, _source(operation))))


def _test(document: Any, parts: list[str], operation: Mapping[str, Any]) -> Any:
    if not _equal(_find(document, parts), _member(operation, "value")):
        raise BadPatch(f"the test of /{'/'.join(parts)} failed")
    return document


def _equal(one: Any, other: Any) -> bool:
    """JSON equality: unlike Python's, true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


_OPERATIONS: Mapping[str, Callable[[Any, list[str], Mapping[str, Any]], Any]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}
