"""How a request is declared, and how it is laid out on the wire.

A request is a subclass of :class:`Request`, which makes it a frozen dataclass. A field travels in
the path if the endpoint's path names it, at its :class:`Place` if it has one, and otherwise as a
member of the JSON body. A field left at :data:`UNSET` does not travel, so that a PATCH can tell an
absent member from ``null``::

    class UpdateVoice(Request):
        voice_id: str
        _: KW_ONLY
        description: str | None | Unset = UNSET

:class:`Shape` compiles such a class: its fields become one pydantic model, which validates them and
gives the JSON Schema.
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from palprep.api.bodies import OpenFile
from palprep.api.failures import UNKNOWN_MEMBER, problems_in, refusal
from palprep.errors import Problem
from palprep.vocabulary import FileInput


class Unset(Enum):
    """The type of :data:`UNSET`."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> Literal[False]:
        return False


UNSET: Final = Unset.UNSET
"""A member that is not sent at all."""


@dataclass(frozen=True)
class Place:
    """Where a field travels. ``name`` is the header's or the member's, if it is not the field's. A
    field at ``body`` is the whole body. One at ``other members`` is a mapping of further members,
    for a request that the specification leaves open."""

    where: Literal["query", "header", "member", "body", "other members"]
    name: str = ""


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True, kw_only=True)
class Request:
    """Base of all requests, with the options that every call takes.

    ``timeout`` and ``deadline``, in seconds, replace the client's for this call. With
    ``validate=False`` no rule of the specification is checked, and members that it does not know
    are sent too. ``extra_headers``, ``extra_query`` and ``extra_body`` (members of a JSON object)
    are sent in addition, unchecked.
    """

    timeout: float | Unset | None = UNSET
    validate: bool = True
    deadline: float | Unset | None = UNSET
    extra_headers: Mapping[str, str] | Unset = UNSET
    extra_query: Mapping[str, str] | Unset = UNSET
    extra_body: Mapping[str, Any] | Unset = UNSET

    streamed: ClassVar[tuple[str, str, str] | None] = None
    """Three names: the field that takes base64 text or a
    :class:`~palprep.api.bodies.Base64Stream`; the argument of clients in its place, a file; and the
    field for the file's MIME type, which clients fill in unless the caller does."""
    json_schema: ClassVar[Mapping[str, Any]] = {}
    """The rules between members, as far as JSON Schema can express them."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)

    def problems(self) -> Iterable[Problem]:
        """Broken rules about several fields together. Each field by itself is valid."""
        return ()


class Shape:
    """The compiled form of one request class; ``in_path`` are the names in its endpoint's path."""

    def __init__(self, request: type[Request], in_path: Iterable[str]) -> None:
        self.request = request
        self.signature = inspect.signature(request)
        self._hints = get_type_hints(request, include_extras=True)
        self.options = Request.__dataclass_fields__.keys()
        """The fields that say how to send the call, and do not travel."""
        self.in_path = {name: name for name in in_path}
        places = {
            name: _place(self._hints[name])
            for name in self.signature.parameters
            if name not in self.options and name not in self.in_path
        }

        def fields(where: str) -> dict[str, str]:
            return {name: at.name or name for name, at in places.items() if at.where == where}

        self.in_query, self.in_header, self.members = map(fields, ("query", "header", "member"))
        self.whole = next(iter(fields("body")), None)
        self.other = next(iter(fields("other members")), None)
        self.takes_body = bool(self.members or self.other or self.whole)
        self._wire = self.in_path | self.in_query | self.in_header | self.members | fields("body")

    @cached_property
    def _model(self) -> type[BaseModel]:
        columns: dict[str, Any] = {}
        for name, wire in self._wire.items():
            needed = self.signature.parameters[name].default is not UNSET
            # A factory, since a plain default would appear in the JSON Schema.
            factory: Any = None if needed else types.NoneType
            least = 1 if name in self.in_path else None
            field = Field(default_factory=factory, alias=wire, min_length=least)
            columns[name] = (_without_unset(self._hints[name]), field)
        return create_model(
            self.request.__name__,
            __config__=ConfigDict(
                extra="allow" if self.other else "forbid",
                strict=True,
                allow_inf_nan=False,
                protected_namespaces=(),
            ),
            __doc__=inspect.cleandoc(self.request.__doc__ or ""),
            **columns,
        )

    def bind(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], open_file: OpenFile | None = None
    ) -> dict[str, Any]:
        """Arguments by field name, without those that are UNSET. With ``open_file`` the arguments
        are a client's: a file in place of a streamed field. Raises TypeError as a function call
        would. With ``validate=False`` arguments may be missing or unknown; unknown ones are kept.
        """
        signature = self.client_signature if open_file else self.signature
        if kwargs.get("validate", True):
            bound = signature.bind(*args, **kwargs).arguments
        else:
            known = {k: v for k, v in kwargs.items() if k in signature.parameters}
            bound = signature.bind_partial(*args, **known).arguments
            bound.update((k, v) for k, v in kwargs.items() if k not in known)
        arguments = {name: value for name, value in bound.items() if value is not UNSET}
        if open_file and self.request.streamed:
            field, argument, type_field = self.request.streamed
            content = arguments[field] = open_file(arguments.pop(argument))
            # The file is read only if the caller has not given its type.
            if type_field not in arguments and (mime := content.mime()) is not None:
                arguments[type_field] = mime
        return arguments

    def arrived(
        self,
        path: Mapping[str, str],
        body: Any,
        query: Mapping[str, str],
        headers: Mapping[str, str],
    ) -> dict[str, Any]:
        """The values of an arrived request by field name. ``headers`` ignores case. Raises
        :class:`~palprep.errors.InvalidRequest` for unknown members, and for a body of the wrong
        kind."""
        sent: dict[str, Any] = dict(path)
        for names, given in ((self.in_query, query), (self.in_header, headers)):
            sent.update((name, given[wire]) for name, wire in names.items() if wire in given)
        if self.whole is not None or not self.takes_body:
            return sent if body is UNSET or self.whole is None else sent | {self.whole: body}
        members = {} if body is UNSET else body
        if not isinstance(members, dict):
            raise refusal([Problem("", "object_required", "must be a JSON object")])
        sent |= {name: members[wire] for name, wire in self.members.items() if wire in members}
        strangers = {k: v for k, v in members.items() if k not in self.members.values()}
        if self.other:
            return sent | {self.other: strangers}
        if strangers:
            raise refusal([Problem(k, "extra_forbidden", UNKNOWN_MEMBER) for k in strangers])
        return sent

    def validated(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """The same values, checked and normalised by every rule. Raises
        :class:`~palprep.errors.InvalidRequest` with all problems."""
        by_wire = {wire: sent[name] for name, wire in self._wire.items() if name in sent}
        try:
            checked = self._model.model_validate(by_wire)
        except ValidationError as error:
            raise refusal(list(problems_in(error, without=self.whole))) from None
        values = {name: getattr(checked, name) for name in checked.model_fields_set}
        if self.other and self.other in sent:
            values[self.other] = sent[self.other]
        if problems := list(self.request(**values).problems()):
            raise refusal(problems)
        return values

    def body(self, values: Mapping[str, Any]) -> Any:
        """The JSON body, UNSET when the request has none. Raises
        :class:`~palprep.errors.InvalidRequest` for further members that are no object."""
        if self.whole is not None:
            return values.get(self.whole, UNSET)
        strangers = {k: v for k, v in values.items() if k not in self.signature.parameters}
        if not self.takes_body and not strangers:
            return UNSET
        other = values.get(self.other or "", {})
        if not isinstance(other, Mapping):
            raise refusal([Problem(self.other or "", "object_required", "must be an object")])
        body = {wire: values[name] for name, wire in self.members.items() if name in values}
        return body | dict(other) | strangers

    def schema(self, ref_template: str = "#/$defs/{model}") -> dict[str, Any] | None:
        """JSON Schema (2020-12) of the body, None when the request has none."""
        if not self.takes_body:
            return None
        schema = self._model.model_json_schema(ref_template=ref_template)
        fields: dict[str, dict[str, Any]] = schema.get("properties", {})
        if self.whole is not None:
            return {"$defs": schema.get("$defs", {}), **fields[self.whole]}
        members = {wire: fields[wire] for wire in self.members.values()}
        required = [wire for wire in schema.get("required", ()) if wire in members]
        return schema | {"properties": members, "required": required}

    def parameters(self) -> list[dict[str, Any]]:
        """The parameters in the path, the query and headers, as OpenAPI describes them."""
        schemas = self._model.model_json_schema().get("properties", {})
        places = {"path": self.in_path, "query": self.in_query, "header": self.in_header}
        return [
            {
                "name": wire,
                "in": place,
                "required": self.signature.parameters[name].default is inspect.Parameter.empty,
                "schema": schemas[wire],
            }
            for place, fields in places.items()
            for name, wire in fields.items()
        ]

    @cached_property
    def client_signature(self) -> inspect.Signature:
        """The signature for clients: bare types, a file in place of a stream, the options last."""
        bare: dict[str, Any] = get_type_hints(self.request)
        own: list[inspect.Parameter] = []
        options: list[inspect.Parameter] = []
        for name, parameter in self.signature.parameters.items():
            shown = parameter.replace(annotation=_without_unset(bare[name]))
            if self.request.streamed is not None and name == self.request.streamed[0]:
                shown = shown.replace(name=self.request.streamed[1], annotation=FileInput)
            (options if name in self.options else own).append(shown)
        return self.signature.replace(parameters=own + options)


def _place(hint: Any) -> Place:
    extras = hint.__metadata__ if get_origin(hint) is Annotated else ()
    return next((extra for extra in extras if isinstance(extra, Place)), Place("member"))


def _without_unset(hint: Any) -> Any:
    if get_origin(hint) is Annotated:
        inner = _without_unset(hint.__origin__)
        return Annotated[(inner, *hint.__metadata__)]
    if get_origin(hint) in {Union, types.UnionType}:
        kept = tuple(arm for arm in get_args(hint) if arm is not Unset)
        return functools.reduce(operator.or_, kept)
    return hint
