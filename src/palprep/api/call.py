"""An endpoint, declared once for clients and servers.

A client calls an :class:`Endpoint` with the arguments of its request class, and gets a
:class:`Call`: the frozen value that a sender puts on the wire. A server uses :meth:`Endpoint.match`
and :meth:`Endpoint.parse`, which return the request class. Nothing here knows of sockets, clocks or
keys.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Literal, ParamSpec, TypedDict, TypeVar, Unpack, get_args
from urllib.parse import parse_qsl, quote, unquote

from palprep.api.bodies import Base64Stream, OpenFile, StreamedBody, compact_json, read_body, redact
from palprep.api.failures import failure, refusal, request_id
from palprep.api.records.fields import is_header_name, is_header_value
from palprep.api.reply import Reply, Unspecified, deviations, read_leniently
from palprep.api.request import UNSET, Request, Shape, Unset
from palprep.errors import ApiError, Problem, UnexpectedReply, UsageError
from palprep.escaping import escaped
from palprep.values import require_type

P = ParamSpec("P")
R = TypeVar("R", bound=Reply)

_SHOWN_CHARS = 500
"""The longest part of a body in a message."""

Verb = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True)
class Rate:
    """At most ``requests`` in ``seconds``, and at most one at a time."""

    requests: int
    seconds: float

    def wait_s(self, moments: Sequence[float], now: float) -> float:
        """Seconds until another request may begin, when others began at these ``moments``, in order
        of time."""
        if len(moments) < self.requests:
            return 0.0
        return max(moments[-self.requests] + self.seconds - now, 0.0)


@dataclass(frozen=True, repr=False, eq=False)
class Endpoint(Generic[P, R]):
    """Method, path, request and reply of one operation, as the specification states them.

    ``name`` is ``resource.action``. ``idempotent`` marks a POST or a PATCH that leaves the same
    state however often it is carried out. ``unspecified`` marks routes that the specification
    mentions without showing them. ``max_body_bytes`` limits the encoded body.
    """

    name: str
    method: Verb
    path: str
    request: Callable[P, Request]
    reply: type[R]
    rate: Rate | None = None
    max_body_bytes: int | None = None
    idempotent: bool = False
    unspecified: bool = False
    deprecated: bool = False
    failures: Mapping[int, str] = field(default_factory=dict)
    """Error statuses that the specification states, with their meaning."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Call[R]:
        """The call with these arguments. Raises :class:`~palprep.errors.InvalidRequest`, which
        names the field, unless ``validate=False`` is among the arguments."""
        return self.call(args, kwargs)

    def call(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], open_file: OpenFile | None = None
    ) -> Call[R]:
        """As calling the endpoint. With ``open_file`` the arguments are a client's: a file, which
        ``open_file`` opens, in place of a streamed field. Raises TypeError as a function call
        would, and whatever ``open_file`` raises."""
        shape = self.shape
        values = shape.bind(args, kwargs, open_file)
        options = {name: values.pop(name) for name in shape.options if name in values}
        for name, value in options.items():
            # The client checks the timeout.
            if name != "timeout" and value is not UNSET:
                require_type(name, value, shape.client_signature.parameters[name].annotation)
        if options.get("validate", True):
            values = shape.validated(values)
        if missing := [name for name in shape.in_path if name not in values]:
            raise TypeError(f"{self.name} needs {missing[0]}: it is part of the path")
        body = shape.body(values)
        if extra := options.get("extra_body"):
            if not isinstance(body, Mapping | Unset):
                rule = "object_required"
                raise refusal([Problem("extra_body", rule, "needs a body that is an object")])
            body = {**(body or {}), **extra}
        query = {name: values[name] for name in shape.in_query if name in values}
        headers = {h: str(values[n]) for n, h in shape.in_header.items() if n in values}
        return Call(
            endpoint=self,
            path=self.path.format_map({name: segment(values[name]) for name in shape.in_path}),
            query=tuple((query | dict(options.get("extra_query", {}))).items()),
            headers=sendable(headers, options.get("extra_headers", {})),
            body=body,
            timeout=options.get("timeout", UNSET),
            deadline=options.get("deadline", UNSET),
        )

    def __getstate__(self) -> dict[str, Any]:
        # Without what is worked out when it is first used: its validators cannot be copied.
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __repr__(self) -> str:
        return f"<Endpoint {self.name}: {self.method} {self.path}>"

    @property
    def repeatable(self) -> bool:
        """Whether a request without an answer may be sent again (RFC 9110, section 9.2.2)."""
        return self.idempotent or self.method in {"GET", "PUT", "DELETE"}

    @property
    def resource(self) -> str:
        return self.name.partition(".")[0]

    @property
    def action(self) -> str:
        return self.name.partition(".")[2]

    @property
    def offered_as(self) -> tuple[str, str]:
        """Resource and action under which clients and the command line offer it. Unspecified
        operations are one resource: ``("unspecified", "get_voice")``."""
        if not self.unspecified:
            return self.resource, self.action
        noun = self.resource if self.action == "list" else self.resource.removesuffix("s")
        return "unspecified", f"{self.action}_{noun}"

    @property
    def description(self) -> str:
        """The request's docstring: a summary line, then details."""
        return inspect.cleandoc(self.request.__doc__ or "")

    @cached_property
    def shape(self) -> Shape:
        """The request's fields by where they travel, with their validators."""
        return Shape(self.request, self.pattern.groupindex)  # type: ignore[arg-type]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", self.path))

    def match(self, path: str) -> dict[str, str] | None:
        """The path parameters of a percent-encoded path; None for a path of another endpoint."""
        found = self.pattern.fullmatch(path)
        return {k: unquote(v) for k, v in found.groupdict().items()} if found else None

    def parse(
        self,
        path: Mapping[str, str],
        body: Any = UNSET,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The request that arrived. ``body`` is parsed JSON, UNSET if there was none. Raises
        :class:`~palprep.errors.InvalidRequest` with every broken rule."""
        sent = self.shape.arrived(path, body, query or {}, headers or {})
        return self.shape.request(**self.shape.validated(sent))

    def read(
        self,
        body: Any,
        headers: Mapping[str, str] | None = None,
        *,
        strict: bool = False,
        path: str | None = None,
    ) -> R:
        """The reply's record from parsed JSON. ``headers`` have lower-case names; ``path`` is the
        requested path, for messages. Raises :class:`~palprep.errors.UnexpectedReply` when the body
        is no JSON object, when a created resource has no id, and with ``strict`` for everything
        that is not as specified."""
        headers, path = headers or {}, path or self.path
        if issubclass(self.reply, Unspecified):
            return self.reply(body=body).with_headers(headers)
        if strict and (problems := deviations(self.reply, body, closed=not self.unspecified)):
            first = (f"{p.field or 'the body'} {p.message}" for p in problems[:3])
            raise self._unexpected(path, "; ".join(first), body, headers)
        if not isinstance(body, dict):
            raise self._unexpected(path, "it is no JSON object", body, headers)
        record = read_leniently(self.reply, body)
        member = self.reply.id_member()
        if self.method == "POST" and member and not getattr(record, member):
            raise self._unexpected(path, f"it has no {member}", body, headers)
        return record.with_headers(headers)

    def _unexpected(
        self, path: str, why: str, body: Any, headers: Mapping[str, str]
    ) -> UnexpectedReply:
        named = request_id(headers)
        # The body is shown: it may hold the new id under another name.
        shown = "empty" if body is None else escaped(compact_json(redact(body)))
        shown = shown if len(shown) <= _SHOWN_CHARS else f"{shown[:_SHOWN_CHARS]}…"
        more = f" The service calls the request {named}." if named else ""
        if not self.repeatable:
            more += " It was carried out: look it up on the service before you send it again."
        return UnexpectedReply(
            f"{self.method} {path} succeeded, and its body is not of the specified shape: "
            f"{why}.{more} The body is {shown}; check the base URL.",
            body=body,
            request_id=named,
            carried_out=not self.repeatable,
        )


@dataclass(frozen=True, repr=False)
class Call(Generic[R]):
    """One request as a value, without the base URL and the key. ``body`` is JSON, UNSET if nothing
    is sent; one of its members may be a :class:`~palprep.api.bodies.Base64Stream`. An array in
    ``query`` is sent as several pairs. The repr masks secrets."""

    endpoint: Endpoint[..., R]
    path: str
    query: tuple[tuple[str, Any], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = UNSET
    timeout: float | Unset | None = UNSET
    deadline: float | Unset | None = UNSET

    @property
    def method(self) -> Verb:
        return self.endpoint.method

    def describe(self) -> dict[str, Any]:
        """Method, path, query and body, with secrets masked: it may be logged and kept."""
        shown: dict[str, Any] = {"method": self.method, "path": self.path}
        if self.query:
            shown["query"] = redact(dict(self.query))
        if self.body is not UNSET:
            shown["body"] = redact(self.body)
        return shown

    def __repr__(self) -> str:
        return f"Call({self.describe()!r})"

    def content(self) -> bytes | StreamedBody | None:
        """The body in bytes: compact JSON in UTF-8, made while it is sent if a member is a stream.
        Raises :class:`~palprep.errors.InvalidRequest` for values that JSON has no form for (such as
        infinity), and for a body larger than the endpoint takes."""
        if self.body is UNSET:
            return None
        others = dict(self.body) if isinstance(self.body, Mapping) else {}
        streamed = next((n for n, each in others.items() if isinstance(each, Base64Stream)), None)
        encoded: bytes | StreamedBody
        try:
            if streamed is None:
                encoded = compact_json(self.body).encode()
            else:
                stream = others.pop(streamed)
                before, _, after = compact_json({streamed: "", **others}).partition('""')
                encoded = StreamedBody(f'{before}"'.encode(), stream, f'"{after}'.encode())
        except (TypeError, ValueError) as error:
            raise refusal([Problem("", "json", f"cannot be written as JSON: {error}")]) from None
        limit = self.endpoint.max_body_bytes
        if limit is not None and len(encoded) > limit:
            message = f"is {len(encoded):,} bytes, more than the {limit:,} that the service takes"
            raise refusal([Problem("", "body_too_large", message)])
        return encoded

    def read(self, content: bytes, headers: Mapping[str, str], *, strict: bool = False) -> R:
        """The record of a success from its body. Raises as :meth:`Endpoint.read`."""
        try:
            body = read_body(content)
            return self.endpoint.read(body, headers, strict=strict, path=self.path)
        except UnexpectedReply as error:
            error.call = self.describe()
            raise

    def failure(self, status: int, headers: Mapping[str, str], content: bytes) -> ApiError:
        """The error for a reply that is not a success; see :func:`palprep.api.failures.failure`."""
        what = f"{self.method} {self.path}: "
        meaning = self.endpoint.failures.get(status)
        error = failure(status, headers, read_body(content), what=what, meaning=meaning)
        error.call = self.describe()
        return error


class PlainOptions(TypedDict, total=False):
    """The options of a request that no endpoint declares."""

    query: Mapping[str, Any] | None
    headers: Mapping[str, str] | None
    body: Any
    timeout: float | Unset | None
    deadline: float | Unset | None


def plain_call(method: Verb, path: str, **options: Unpack[PlainOptions]) -> Call[Unspecified]:
    """A call of an endpoint that is not declared. ``path`` is percent-encoded, starts with a slash,
    and may end with a query. The method decides whether the call may be repeated (RFC 9110). Raises
    :class:`~palprep.errors.UsageError` for another method or a path without a slash."""
    if method not in get_args(Verb) or not isinstance(path, str) or not path.startswith("/"):
        methods = ", ".join(get_args(Verb))
        raise UsageError(f"Give a method ({methods}) and a path from the base URL on: /v2/...")
    path, _, query = path.partition("?")
    return Call(
        endpoint=Endpoint("plain.request", method, path, Request, Unspecified),
        path=path,
        query=(*parse_qsl(query, keep_blank_values=True), *(options.get("query") or {}).items()),
        headers=sendable({}, options.get("headers") or {}),
        body=options.get("body", UNSET),
        timeout=options.get("timeout", UNSET),
        deadline=options.get("deadline", UNSET),
    )


def segment(value: object) -> str:
    """A value as one percent-encoded segment of a path. The dots of ``.`` and ``..``, which would
    lead to another path, are encoded too."""
    quoted = quote(str(value), safe="")
    return quoted.replace(".", "%2E") if quoted in {".", ".."} else quoted


_OWN_HEADERS = frozenset({"content-length", "host", "transfer-encoding", "x-api-key"})


def sendable(headers: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """Both together, ``extra`` with lower-case names. Raises
    :class:`~palprep.errors.InvalidRequest` for what no header can carry, and for an ``extra`` one
    that the client itself sets."""
    if not headers and not extra:
        return {}
    added = {str(name).lower(): value for name, value in extra.items()}
    problems = [
        Problem(n, "own_header", "is set by the client") for n in added.keys() & _OWN_HEADERS
    ]
    for name, value in {**headers, **added}.items():
        if not is_header_name(name) or not isinstance(value, str) or not is_header_value(value):
            message = "must be a header: printable ASCII without white space at its ends"
            problems.append(Problem(name, "header_value", message))
    if problems:
        raise refusal(problems)
    return {**headers, **added}
