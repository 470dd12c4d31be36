"""From a path to its endpoint, as it came over the wire."""

from __future__ import annotations

from collections.abc import Mapping
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


class EndpointRoute(BaseRoute):
    """All endpoints of one path. A wrong method is told all the right ones.

    Identifiers are opaque, and one may hold a slash. The path is therefore matched while it is
    still percent-encoded, where Starlette's own routes match it decoded.
    """

    def __init__(self, methods: Mapping[str, EndpointApp]) -> None:
        self._methods = {**methods, "HEAD": methods["GET"]} if "GET" in methods else dict(methods)
        self._pattern = next(iter(methods.values())).endpoint.pattern

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether this is the path, and whether the method is one of its own."""
        found = self._pattern.fullmatch(scope["raw_path"].decode("ascii", "replace"))
        if scope["type"] != "http" or found is None:
            return Match.NONE, {}
        params = {name: unquote(value) for name, value in found.groupdict().items()}
        match = Match.FULL if scope["method"] in self._methods else Match.PARTIAL
        return match, {"path_params": params, "endpoint": self}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request. Raises HTTPException 405 for another method."""
        served = self._methods.get(scope["method"])
        if served is None:
            raise HTTPException(405, headers={"Allow": ", ".join(self._methods)})
        response = await served.serve(Request(scope, receive, send))
        await response(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> Any:
        """None: these routes have no names."""
        raise NoMatchFound(name, path_params)


def endpoint_routes(service: Service, keys: KeyRing) -> list[EndpointRoute]:
    """One route per path."""
    by_path: dict[str, dict[str, EndpointApp]] = {}
    for serving in servings():
        methods = by_path.setdefault(serving.endpoint.path, {})
        methods[serving.endpoint.method] = EndpointApp(serving, service, keys)
    return [EndpointRoute(methods) for methods in by_path.values()]
