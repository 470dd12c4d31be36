"""Connectors: the runtime check."""

from __future__ import annotations

from palprep.sandbox.answers import JsonAnswer, Refused, refuse_error
from palprep.sandbox.connectors import TooManyChecks, available, runtime_check
from palprep.sandbox.handler import HandlerContext


async def check_connector(context: HandlerContext) -> JsonAnswer:
    """List the tools of the connector's server, ten times a minute at most, one at a time."""
    service, choices = context.service, context.service.choices
    connector = service.store.get("connector", context.request.connector_id)
    if connector is None:
        raise refuse_error(404, "Connector not found.")
    auth = connector.get("auth") or {}
    if auth.get("type") == "oauth" and not auth.get("finished"):
        raise refuse_error(409, "OAuth is not finished for this connector.")
    if not available():
        raise refuse_error(503, "Runtime checks are not available on this deployment.")
    try:
        with service.check_limit.take(service.now()):
            return JsonAnswer(
                body=await runtime_check(
                    connector,
                    service.http,
                    timeout_s=choices.connector_seconds,
                    anywhere=choices.outbound == "anywhere",
                )
            )
    except TooManyChecks as error:
        raise Refused(
            JsonAnswer(429, {"error": str(error)}, {"Retry-After": str(error.retry_after)})
        ) from error
