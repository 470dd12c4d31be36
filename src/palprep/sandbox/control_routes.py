"""A control is a method of the sandbox and a route under ``/_sandbox``, which asks for no key."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, get_type_hints, overload

from pydantic import TypeAdapter, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from palprep.api import json_value
from palprep.errors import UsageError
from palprep.sandbox.answers import JsonAnswer, respond
from palprep.sandbox.choices import Seconds
from palprep.serving import BodyTooLarge, read_body
from palprep.values import Value, require_type
from palprep.vocabulary import did_you_mean

P = ParamSpec("P")
T = TypeVar("T")

MAX_BODY_BYTES = 64 * 1024 * 1024

_LIFETIME = TypeAdapter[Any](Seconds | None)
"""Of an upload, in seconds."""


class Missing(UsageError):
    """Nothing has this id that could be ended or called."""


_STATUSES: Mapping[type[Exception], int] = {Missing: 404, BodyTooLarge: 413}


@dataclass
class Control(Generic[P, T]):
    """One control. As an attribute of a sandbox it is a method, which returns when ``act`` has
    been carried out on the sandbox's own loop.

    Over HTTP the arguments of ``act`` are the parts of ``path``, and the members of a JSON object,
    by other names where ``renamed`` gives some. Or its one argument is the ``whole`` JSON body, an
    object or an array, or the body as it comes (``streamed``, its name). The answer is the result,
    as a member ``under`` this name. Without a result it is a 204.
    """

    act: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]
    method: str
    path: str
    renamed: Mapping[str, str] = field(default_factory=dict)
    whole: bool = False
    streamed: str | None = None
    under: str | None = None

    def __post_init__(self) -> None:
        self.__doc__ = self.act.__doc__  # What help() tells of the method.
        self.parts = re.findall(r"{(\w+)}", self.path)

    def __repr__(self) -> str:
        return f"{self.act.__name__}{inspect.signature(self.act)}"

    @overload
    def __get__(self, sandbox: None, owner: type) -> Self: ...
    @overload
    def __get__(self, sandbox: object, owner: type) -> Callable[P, T]: ...
    def __get__(self, sandbox: Any, owner: type) -> Self | Callable[P, T]:
        if sandbox is None:
            return self

        @functools.wraps(self.act)
        def method(*args: P.args, **kwargs: P.kwargs) -> T:
            given = inspect.signature(self.act).bind(sandbox, *args, **kwargs).arguments
            for name in given.keys() & self.hints.keys():
                require_type(name, given[name], self.hints[name])
            result: T = sandbox._run(lambda: self.act(sandbox, *args, **kwargs))  # noqa: SLF001
            return result

        return method

    async def answer(self, sandbox: Any, request: Request) -> Response:
        try:
            act: Callable[..., Coroutine[Any, Any, T]] = self.act
            result = await act(sandbox, **await self._arguments(request))
        except (UsageError, BodyTooLarge) as error:
            return _refused(_STATUSES.get(type(error), 400), error.message)
        except ClientDisconnect:
            return Response(status_code=400)  # no one is there to read it
        except OSError as error:
            return _refused(507, f"The asset cannot be stored: {error.strerror}")
        shown: Any = result.to_json() if isinstance(result, Value) else result
        if self.under is not None and shown is not None:
            shown = {self.under: shown}
        return respond(JsonAnswer(204 if shown is None else 200, shown))

    async def _arguments(self, request: Request) -> Any:
        """What the request gives to ``act``, by the names of its arguments."""
        arguments: dict[str, Any] = dict(request.path_params)
        if self.streamed is not None:
            sent = request.query_params.get("expires_in")
            arguments["lifetime_s"] = _checked("expires_in", _LIFETIME, sent)
            return arguments | {self.streamed: request.stream()}
        if not self.members:
            return arguments
        body = await read_body(request, MAX_BODY_BYTES)
        try:
            sent = json_value(body or (b"" if self.whole else b"{}"))
        except ValueError as error:
            raise UsageError(f"The body is not JSON: {error}.") from error
        if not isinstance(sent, dict | list if self.whole else dict):
            raise UsageError("The body must be a JSON object.")
        if self.whole:
            return dict.fromkeys(self.members, sent)
        known = self.members.values()
        for stranger in sent.keys() - {*known}:
            hint = did_you_mean(stranger, known, f"known are {', '.join(known)}")
            raise UsageError(f"{stranger} is no member here; {hint}")
        own = inspect.signature(self.act).parameters
        for name, member in self.members.items():
            value = sent.get(member, own[name].default)
            arguments[name] = _checked(member, self.types[name], value, strict=True)
        return arguments

    @functools.cached_property
    def types(self) -> Mapping[str, TypeAdapter[Any]]:
        """What each of the members may be."""
        return {name: TypeAdapter(self.hints[name]) for name in self.members}

    @functools.cached_property
    def hints(self) -> Mapping[str, Any]:
        return get_type_hints(self.act)

    @functools.cached_property
    def members(self) -> Mapping[str, str]:
        """The arguments that are no part of the path, by name, as members of the body."""
        _, *names = inspect.signature(self.act).parameters
        others = (name for name in names if name not in self.parts)
        return {name: self.renamed.get(name, name) for name in others}


def control(
    method: str, path: str, **options: Any
) -> Callable[[Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]], Control[P, T]]:
    """Makes an async method the :class:`Control` at ``path`` under ``/_sandbox``."""
    return lambda act: Control(act, method, path, **options)


def control_routes(sandbox: Any, controls: Iterable[Control[..., Any]]) -> list[Route]:
    return [
        Route(
            "/_sandbox" + each.path, functools.partial(each.answer, sandbox), methods=[each.method]
        )
        for each in controls
    ]


def _refused(status: int, text: str) -> Response:
    return respond(JsonAnswer(status, {"error": text}))


def _checked(
    name: str, declared: TypeAdapter[Any], value: object, *, strict: bool | None = None
) -> Any:
    try:
        return declared.validate_python(value, strict=strict)
    except ValidationError as error:
        raise UsageError(f"{name}: {error.errors()[0]['msg']}.") from None
