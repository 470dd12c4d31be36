"""Between calls and the HTTP library: requests written, answers and errors read."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from palprep._version import __version__
from palprep.api.call import Call
from palprep.api.wire import UNSET, request_id
from palprep.client.library import Library
from palprep.client.secret import Secret
from palprep.client.steps import Answer, NoAnswer
from palprep.errors import UsageError

log = logging.getLogger("palprep.client")


@dataclass(frozen=True)
class RequestWriter:
    """Base URL, key, timeout in seconds by what is waited for, and headers of every request."""

    library: Library
    base_url: str
    key: Secret
    timeout: Mapping[str, float | None]
    headers: Mapping[str, str] = field(default_factory=dict)

    def write(self, call: Call[Any], within: float | None = None) -> Any:
        """The request for ``call``, which has ``within`` seconds left. The key is in no other
        object that outlives it.

        Raises :class:`~palprep.errors.UsageError` when the path makes no URL, and
        :class:`~palprep.errors.InvalidRequest` for a body that cannot be sent.
        """
        module = self.library.module
        headers = {
            "accept": "application/json",
            "accept-encoding": "gzip, deflate",
            "user-agent": f"palprep/{__version__}",
            **self.headers,
            **call.headers,
            "x-api-key": self.key.reveal(),
        }
        content = call.content()
        stream = None
        if content is not None:
            headers["content-type"] = "application/json"
            if not isinstance(content, bytes):
                stream = self.library.body(content)
                headers["content-length"] = str(len(content))
                # Added to every request but those that bring a stream of their own.
                headers["host"] = module.URL(self.base_url).netloc.decode("ascii")
        try:
            return module.Request(
                call.method,
                self.base_url + call.path,
                params=list(call.query) or None,
                headers=headers,
                content=content if isinstance(content, bytes) else None,
                stream=stream,
                extensions={"timeout": self._timeout(call, within)},
            )
        except module.InvalidURL as error:
            raise UsageError(
                f"{call.method} {call.endpoint.path}: no URL can be made of this ({error})."
            ) from None

    def _timeout(self, call: Call[Any], within: float | None) -> Mapping[str, float | None]:
        own = call.timeout is not UNSET
        limits = self.library.timeout(call.timeout) if own else self.timeout
        if within is None:
            return limits
        return {name: within if s is None else min(s, within) for name, s in limits.items()}

    @staticmethod
    def answer(call: Call[Any], response: Any, content: bytes, elapsed: float) -> Answer:
        """The answer in ``response``, which took ``elapsed`` seconds."""
        headers = {name.lower(): value for name, value in response.headers.items()}
        log.info("%s %s: %d in %.3f s", call.method, call.path, response.status_code, elapsed)
        log.debug("%s %s: request %s", call.method, call.path, request_id(headers))
        return Answer(response.status_code, headers, content, elapsed)

    def no_answer(self, call: Call[Any], error: Exception) -> NoAnswer:
        """What an exception of the library says about the request."""
        detail = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        log.info("%s %s: no answer (%s)", call.method, call.path, detail)
        return NoAnswer(
            sent=not isinstance(error, self.library.unsent),
            timed_out=isinstance(error, self.library.module.TimeoutException),
            detail=detail,
        )
