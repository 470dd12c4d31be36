"""The base of the records that the service returns. They are read leniently, since a service may
add or leave out members and values, or compared strictly with the specification."""

from __future__ import annotations

import functools
import json
import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeVar, Union, cast, get_args, get_origin

from pydantic import ConfigDict, TypeAdapter, ValidationError

from palprep.api.failures import problems_in, request_id
from palprep.errors import Problem
from palprep.values import Value

R = TypeVar("R", bound="Reply")

_HEADERS = "response headers"


class Reply(Value):
    """Base of all records that the service returns. :func:`read_leniently` reads them. A member
    that the specification does not know is kept as an attribute."""

    model_config = ConfigDict(extra="allow")

    @classmethod
    @functools.cache
    def id_member(cls) -> str | None:
        """The member with the record's own id: the first that is an id. None if it has none."""
        return next((name for name in cls.model_fields if name.endswith("_id")), None)

    @property
    def response_headers(self) -> Mapping[str, str]:
        """The reply's headers, with lower-case names; empty for a record inside another."""
        found: Mapping[str, str] = self.__dict__.get(_HEADERS, {})
        return found

    @property
    def request_id(self) -> str | None:
        """The service's id of the request, None if it sent none."""
        return request_id(self.response_headers)

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json", warnings=False)

    def with_headers(self, headers: Mapping[str, str]) -> Self:
        """This record, now with its ``headers``, which have lower-case names."""
        # Next to the fields, where pydantic keeps cached properties: copied and pickled with them,
        # and never compared, shown or sent.
        self.__dict__[_HEADERS] = headers
        return self


class Unspecified(Reply):
    """A reply whose shape the specification does not show. ``body`` is parsed JSON, the text if it
    was no JSON, or None if it was empty."""

    body: Any = None


def read_leniently(kind: type[R], body: Mapping[str, Any]) -> R:
    """The record in ``body``, whatever is new or missing in it. A value of a wrong type is kept as
    it came, also in records inside it. A member that is missing or null has its default, or None.
    The record's own id becomes a string if it is a number."""
    try:
        return kind.model_validate(body)
    except ValidationError:
        pass
    values: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        value = _part(Annotated[(field.annotation, *field.metadata, None)], body.get(name))
        if value is None and not field.is_required():
            value = field.get_default(call_default_factory=True)
        values[name] = value
    own = kind.id_member()
    if own and type(values[own]) is int:
        values[own] = str(values[own])
    extras = {name: value for name, value in body.items() if name not in values}
    record = cast("R", kind.model_construct(_fields_set=set(body), **values))
    # Not given to model_construct(): a member may have the name of one of its arguments.
    cast("dict[str, Any]", record.model_extra).update(extras)
    return record


def _part(hint: Any, value: Any) -> Any:
    """``value`` as the type ``hint``, or else as it came, with the records inside it read."""
    bare = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    arms = [arm for arm in get_args(bare) if arm is not types.NoneType]
    if get_origin(bare) in {Union, types.UnionType} and len(arms) == 1 and value is not None:
        return _part(arms[0], value)
    if isinstance(bare, type) and issubclass(bare, Reply) and isinstance(value, Mapping):
        return read_leniently(bare, value)
    if get_origin(bare) is tuple and isinstance(value, list):
        return tuple(_part(arms[0], part) for part in value)
    try:
        return TypeAdapter(hint).validate_python(value)
    except ValidationError:
        return value


def deviations(kind: type[Reply], body: Any, *, closed: bool = True) -> tuple[Problem, ...]:
    """The members of ``body`` that are not as ``kind`` declares them; with ``closed``, also those
    that it does not declare."""
    extra: Literal["forbid", "allow"] = "forbid" if closed else "allow"
    try:
        # As JSON, because in Python a strict tuple takes no list.
        kind.model_validate_json(json.dumps(body), strict=True, extra=extra)
    except ValidationError as error:
        return tuple(problems_in(error))
    return ()
