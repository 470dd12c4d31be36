"""From a path to its endpoint, as it came over the wire."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import Receive, Scope, Send

from palprep.sandbox.dispatch import EndpointApp
from palprep.sandbox.keys import KeyRing
from palprep.sandbox.routes import servings
from palprep.sandbox.service import Service


@dataclass(frozen=True, slots=True)
class EndpointPath:
    """One path with the endpoint of each method. ``pattern`` matches it percent-encoded."""

    pattern: re.Pattern[str]
    methods: Mapping[str, EndpointApp]


class EndpointRoutes(BaseRoute):
    """All endpoints. A wrong method is told all the right ones.

    Identifiers are opaque, and one may hold a slash. Paths are therefore matched while they are
    still percent-encoded, where Starlette's own routes match them decoded.
    """

    def __init__(self, service: Service, keys: KeyRing) -> None:
        by_path: dict[str, dict[str, EndpointApp]] = {}
        for serving in servings():
            served = EndpointApp(serving, service, keys)
            by_path.setdefault(serving.endpoint.path, {})[serving.endpoint.method] = served
        self._paths: dict[str, list[EndpointPath]] = {}
        for path, methods in by_path.items():
            pattern = next(iter(methods.values())).endpoint.pattern
            if "GET" in methods:
                methods["HEAD"] = methods["GET"]
            self._paths.setdefault(_resource(path), []).append(EndpointPath(pattern, methods))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether this is one of the paths, and whether the method is one of its own."""
        if scope["type"] != "http":
            return Match.NONE, {}
        raw = scope["raw_path"].decode("ascii", "replace")
        for path in self._paths.get(_resource(raw), ()):
            if found := path.pattern.fullmatch(raw):
                params = {name: unquote(value) for name, value in found.groupdict().items()}
                match = Match.FULL if scope["method"] in path.methods else Match.PARTIAL
                return match, {"path_params": params, "endpoint": path}
        return Match.NONE, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request. Raises HTTPException 405 for another method."""
        methods = scope["endpoint"].methods
        served = methods.get(scope["method"])
        if served is None:
            raise HTTPException(405, headers={"Allow": ", ".join(methods)})
        response = await served.serve(Request(scope, receive, send))
        await response(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> Any:
        """None: these routes have no names."""
        raise NoMatchFound(name, path_params)


def _resource(path: str) -> str:
    """``/v2/voices`` of ``/v2/voices/v_1``."""
    return "/".join(path.split("/", 3)[:3])
