"""How a request class is laid out on the wire: its fields by place, and their validation.

The body's members are compiled into one pydantic model, which validates them and gives the
JSON Schema; the other fields are validated one by one.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import types
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from palprep.api.problems import MISSING, UNKNOWN_MEMBER, problems_in, refusal
from palprep.api.stream import OpenFile
from palprep.api.wire import (
    UNSET,
    AboutTheCall,
    AccountSettings,
    InHeader,
    InPath,
    InQuery,
    Named,
    OtherMembers,
    Request,
    Streamed,
    Unset,
    WholeBody,
)
from palprep.errors import Problem
from palprep.vocabulary import FileInput


class Shape:
    """The compiled form of one request class."""

    def __init__(self, request: type[Request]) -> None:
        self.request = request
        self.signature = inspect.signature(request)
        self.in_path: list[str] = []
        self.in_query: list[str] = []
        self.in_header: dict[str, str] = {}
        self.members: dict[str, str] = {}
        """Field name to the member's name on the wire."""
        self.whole: str | None = None
        self.other: str | None = None
        self.streamed: tuple[str, Streamed] | None = None
        """The field whose base64 may be made while it is sent, with its marker."""
        self._single: dict[str, TypeAdapter[Any]] = {}
        self.options: set[str] = set()
        """Fields that say how to send the call, and do not travel."""
        hints = get_type_hints(request, include_extras=True)
        columns: dict[str, Any] = {}
        for item in dataclasses.fields(request):
            hint = _without_unset(hints[item.name])
            required = item.default is dataclasses.MISSING
            self._place(item.name, hint, columns, required=required)
        self.model: type[BaseModel] | None = None
        if self.members or self.other:
            self.model = create_model(
                request.__name__,
                __config__=ConfigDict(
                    extra="allow" if self.other else "forbid",
                    strict=True,
                    allow_inf_nan=False,
                    protected_namespaces=(),
                ),
                __doc__=inspect.cleandoc(request.__doc__ or ""),
                **columns,
            )

    def _place(self, name: str, hint: Any, columns: dict[str, Any], *, required: bool) -> None:
        match _marker(hint):
            case InPath():
                self.in_path.append(name)
                self._single[name] = TypeAdapter(Annotated[hint, Field(min_length=1)])
            case InQuery():
                self.in_query.append(name)
                self._single[name] = TypeAdapter(hint)
            case InHeader(name=header):
                self.in_header[name] = header
                self._single[name] = TypeAdapter(hint)
            case WholeBody():
                self.whole = name
                self._single[name] = TypeAdapter(hint)
            case OtherMembers():
                self.other = name
            case AboutTheCall():
                self.options.add(name)
            case marker:
                wire = marker.name if isinstance(marker, Named) else name
                self.members[name] = wire
                if streamed := _marker(hint, (Streamed,)):
                    self.streamed = (name, streamed)
                columns[name] = (hint, Field(... if required else None, alias=wire))

    def bind(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], open_file: OpenFile | None = None
    ) -> dict[str, Any]:
        """Arguments by field name, without those that are UNSET.

        With ``open_file`` the arguments are those of a client, which takes a file in place of
        a streamed field. Raises TypeError as a function call would. With ``validate=False``
        unknown keyword arguments stay in, and missing ones stay out.
        """
        opened = self.streamed is not None and open_file is not None
        signature = self.client_signature if opened else self.signature
        if kwargs.get("validate", True):
            bound = _bound(signature, args, kwargs)
        else:
            known = {k: v for k, v in kwargs.items() if k in signature.parameters}
            bound = signature.bind_partial(*args, **known).arguments
            bound.update((k, v) for k, v in kwargs.items() if k not in known)
        given = {name: value for name, value in bound.items() if value is not UNSET}
        return self._with_file(given, open_file) if opened and open_file else given

    def _with_file(self, given: dict[str, Any], open_file: OpenFile) -> dict[str, Any]:
        assert self.streamed is not None  # noqa: S101 -- asked by the caller
        field, marker = self.streamed
        if marker.argument not in given:
            return given
        content = given[field] = open_file(given.pop(marker.argument))
        if content.mime is not None:
            given.setdefault(marker.type_field, content.mime)
        return given

    def arrived(
        self,
        path: Mapping[str, str],
        body: Any,
        query: Mapping[str, str],
        headers: Mapping[str, str],
    ) -> dict[str, Any]:
        """What came over the wire, by field name; unknown members keep their own names.

        Raises :class:`~palprep.errors.InvalidRequest` for a body of the wrong kind.
        """
        given: dict[str, Any] = dict(path)
        given.update((n, query[n]) for n in self.in_query if n in query)
        lowered = {k.lower(): v for k, v in headers.items()}
        for name, header in self.in_header.items():
            if header.lower() in lowered:
                given[name] = lowered[header.lower()]
        if self.whole is not None:
            if body is not UNSET:
                given[self.whole] = body
        elif self.model is not None:
            given.update(self._members(body))
        return given

    def _members(self, body: Any) -> dict[str, Any]:
        if body is UNSET:
            body = {}
        if not isinstance(body, dict):
            raise refusal([Problem("", "object_required", "must be a JSON object")])
        known = {name: body[wire] for name, wire in self.members.items() if wire in body}
        strangers = {k: v for k, v in body.items() if k not in self.members.values()}
        if self.other:
            return known | {self.other: strangers}
        if strangers:
            raise refusal([Problem(k, "extra_forbidden", UNKNOWN_MEMBER) for k in strangers])
        return known

    def validated(self, given: Mapping[str, Any], settings: AccountSettings) -> dict[str, Any]:
        """The same values, checked by every rule, normalised where a rule says so.

        Raises :class:`~palprep.errors.InvalidRequest` with all problems found.
        """
        values: dict[str, Any] = {}
        problems: list[Problem] = []
        for name, adapter in self._single.items():
            if name in given:
                try:
                    values[name] = adapter.validate_python(given[name], strict=True)
                except ValidationError as error:
                    at = "" if name == self.whole else self.in_header.get(name, name)
                    problems.extend(problems_in(error, at))
            elif self.signature.parameters[name].default is inspect.Parameter.empty:
                at = "" if name == self.whole else name
                problems.append(Problem(at, "missing", MISSING))
        if self.model is not None:
            members = {wire: given[name] for name, wire in self.members.items() if name in given}
            try:
                body = self.model.model_validate(members)
            except ValidationError as error:
                problems.extend(problems_in(error, ""))
            else:
                values.update((n, getattr(body, n)) for n in body.model_fields_set)
        if self.other and self.other in given:
            values[self.other] = given[self.other]
        problems = problems or list(self.build(values).problems(settings))
        if problems:
            raise refusal(problems)
        return values

    def build(self, values: Mapping[str, Any]) -> Request:
        """An instance of the request class from validated values."""
        return self.request(**values)

    def body(self, values: Mapping[str, Any]) -> Any:
        """The JSON body, UNSET when the request has none."""
        if self.whole is not None:
            return values.get(self.whole, UNSET)
        strangers = {k: v for k, v in values.items() if k not in self.signature.parameters}
        if self.model is None and not strangers:
            return UNSET
        body = {wire: values[name] for name, wire in self.members.items() if name in values}
        return body | dict(values.get(self.other or "", {})) | strangers

    def schema(self, ref_template: str = "#/$defs/{model}") -> dict[str, Any] | None:
        """JSON Schema (2020-12) of the body, None when the request has none."""
        if self.whole is not None:
            return self._single[self.whole].json_schema(ref_template=ref_template)
        if self.model is None:
            return None
        schema = self.model.model_json_schema(ref_template=ref_template)
        for member in schema.get("properties", {}).values():
            # An absent member has no default value of null: it is absent.
            if member.get("default", UNSET) is None:
                del member["default"]
        return schema

    def single_schema(self, name: str) -> dict[str, Any]:
        """JSON Schema of a field that travels in the path, the query or a header."""
        return self._single[name].json_schema()

    def required(self, name: str) -> bool:
        """Whether a call without this field is an error."""
        return self.signature.parameters[name].default is inspect.Parameter.empty

    @cached_property
    def client_signature(self) -> inspect.Signature:
        """The arguments of a client: bare types, a file in place of a streamed field, and the
        options that every call takes last."""
        bare: dict[str, Any] = get_type_hints(self.request)
        own: list[inspect.Parameter] = []
        options: list[inspect.Parameter] = []
        for name, parameter in self.signature.parameters.items():
            shown = parameter.replace(annotation=_without_unset(bare[name]))
            if self.streamed is not None and name == self.streamed[0]:
                shown = shown.replace(name=self.streamed[1].argument, annotation=FileInput)
            (options if name in self.options else own).append(shown)
        return self.signature.replace(parameters=own + options)


def _bound(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The arguments by name. Raises TypeError as a function call would."""
    if len(args) == 1 and not kwargs:
        # Most calls give an id and nothing else: no need for the general way, which costs as
        # much as all the rest of making a call.
        first, *others = signature.parameters.values()
        if first.kind is first.POSITIONAL_OR_KEYWORD and all(
            other.default is not other.empty for other in others
        ):
            return {first.name: args[0]}
    return signature.bind(*args, **kwargs).arguments


_PLACES = (InPath, InQuery, InHeader, WholeBody, OtherMembers, Named, AboutTheCall)


def _marker(hint: Any, kinds: tuple[type, ...] = _PLACES) -> Any:
    if get_origin(hint) is Annotated:
        for extra in hint.__metadata__:
            if isinstance(extra, kinds):
                return extra
    return None


def _without_unset(hint: Any) -> Any:
    if get_origin(hint) is Annotated:
        inner = _without_unset(hint.__origin__)
        return Annotated[(inner, *hint.__metadata__)]
    if get_origin(hint) in {Union, types.UnionType}:
        kept = tuple(arm for arm in get_args(hint) if arm is not Unset)
        return functools.reduce(operator.or_, kept)
    return hint
