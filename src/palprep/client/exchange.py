"""One call, from first attempt to record or error.

What may be repeated is decided here and nowhere else:

    ====================  ======================  ================================
    what happened         safe to repeat          creates, or builds on a state
    ====================  ======================  ================================
    never left whole      again, then             again, then
                          ServiceUnreachable      ServiceUnreachable
    no answer             again, then TimedOut    OutcomeUnknown
                          or TransportError
    429                   again, then             again, then RateLimited
                          RateLimited
    408, 425, 5xx         again, then its error   5xx: OutcomeUnknown (not 501);
                                                  408, 425: its error
    other 3xx, 4xx        its error               its error
    ====================  ======================  ================================

    A DELETE has succeeded when it finds nothing after an attempt that may have been carried out.
"""

from __future__ import annotations

import logging
import math
import ssl
from email.utils import formatdate
from typing import Any, TypeVar

import httpx

from palprep import errors
from palprep.api import MASK, UNSET, Call, Reply, request_id
from palprep.client.senders import Answer, AnySender, Limiter, NoAnswer, RawResponse
from palprep.client.settings import LONGEST_S

R = TypeVar("R", bound=Reply)
log = logging.getLogger("palprep.client")

RETRIED_STATUSES = frozenset({408, 425, 500, 502, 503, 504})
"""Statuses worth another attempt where repeating is safe. 429 is always worth one: the request
was not served."""

_FIRST_DELAY_S = 0.5
_LONGEST_DELAY_S = 8.0
_PATIENCE_S = 60.0


async def exchange(call: Call[R], sender: AnySender) -> RawResponse[R]:
    """Send ``call`` and read its reply, trying again where that is safe. Returns the reply with its
    record. Raises the errors of the table above, and :class:`~palprep.errors.UnexpectedReply` for a
    success whose body is not of the specified shape."""
    seconds = sender.deadline if call.deadline is UNSET else call.deadline
    # A deadline may be infinite, which no system call takes.
    within = None if seconds is None else min(max(seconds, 0.0), LONGEST_S)
    ends = None if within is None else sender.clock() + within
    name, rate, limiters = call.endpoint.name, call.endpoint.rate, sender.limiters
    limiter = limiters.get(name) or limiters.setdefault(name, Limiter(rate, sender.lock()))
    if rate and not await sender.take(limiter.turn, within):
        raise _error(call, _UNSENT)
    try:
        return await _attempts(call, sender, limiter, ends)
    finally:
        if rate:
            limiter.turn.release()


async def _attempts(
    call: Call[R], sender: AnySender, limiter: Limiter, ends: float | None
) -> RawResponse[R]:
    attempt, perhaps_done = 0, False
    while True:
        wait_s = limiter.reserve(sender.clock(), ends)
        if 0 < wait_s < math.inf:
            await sender.pause(wait_s)
        left = None if ends is None else ends - sender.clock()
        if math.isinf(wait_s) or (left is not None and left <= 0):
            raise _error(call, _TOO_LATE if perhaps_done else _UNSENT)
        await sender.tell("on_request", call)
        result = await _sent(call, sender, left)
        if isinstance(result, Answer):
            await sender.tell("on_reply", call, result)
            if 200 <= result.status < 300:
                record = call.read(result.content, result.headers, strict=sender.strict)
                return RawResponse(**vars(result), record=record)
            # An answer without a date has the date of its arrival (RFC 9110, section 6.6.1).
            headers = {"date": formatdate(usegmt=True), **result.headers}
            error = call.failure(result.status, headers, result.content)
            if perhaps_done and call.method == "DELETE" and isinstance(error, errors.NotFound):
                return RawResponse(**vars(result), record=call.read(b"", result.headers))
            # A status that the specification explains for this endpoint is an answer, not a fault.
            fault = (
                result.status in RETRIED_STATUSES and result.status not in call.endpoint.failures
            )
            again = result.status == 429 or (fault and call.endpoint.repeatable)
            wished_s = error.retry_after
            if result.status == 429 and wished_s is not None and wished_s <= _PATIENCE_S:
                # The limit is the account's: other calls would be refused as well.
                limiter.rest(sender.clock() + wished_s)
            failed: errors.ApiError | NoAnswer = error
        else:
            await sender.tell("on_failure", call, result)
            again, wished_s = not result.sent or call.endpoint.repeatable, None
            failed = result
        again = again and attempt < sender.retries
        delay = delay_s(attempt, wished_s, sender.random()) if again else None
        if delay is None or (ends is not None and sender.clock() + delay >= ends):
            raise _error(call, failed)
        log.info("%s %s: once more in %.2f s", call.method, call.path, delay)
        await sender.pause(delay)
        attempt, perhaps_done = attempt + 1, perhaps_done or _in_doubt(failed)


_BEFORE_IT_LEFT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)
"""Errors from before the whole request has left: it was certainly not carried out."""
_UNSENT = NoAnswer(sent=False, timed_out=True, detail="the deadline passed before it could be sent")
_TOO_LATE = NoAnswer(sent=True, timed_out=True, detail="the deadline passed")


_MASKED_FROM = 8
"""A shorter key is no secret, and may occur in an answer by chance."""
_LARGE_BYTES = 1_048_576
"""A body of this size or less is rarely refused for its size."""


_CLOSED = "The client is closed. Make another one, or close it later."


async def _sent(call: Call[Any], sender: AnySender, within: float | None) -> Answer | NoAnswer:
    """The result of one attempt, which may take ``within`` seconds."""
    if sender.http.is_closed:
        raise errors.UsageError(_CLOSED)
    started = sender.clock()
    request = sender.write(call, within)
    try:
        response, content = await sender.transmit(request, within)
    except httpx.HTTPStatusError as error:  # By a hook of the caller's http_client.
        response = error.response
        content = response.content if response.is_stream_consumed else b""
    except (httpx.HTTPError, ssl.SSLError) as error:  # httpcore lets the latter through in async.
        detail = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        log.info("%s %s: no answer (%s)", call.method, call.path, detail)
        late = isinstance(error, httpx.TimeoutException)
        return NoAnswer(not isinstance(error, _BEFORE_IT_LEFT), late, detail)
    except TimeoutError:
        return _TOO_LATE
    except RuntimeError:  # httpx's, where the client was closed while the request waited its turn.
        if not sender.http.is_closed:
            raise
        raise errors.UsageError(_CLOSED) from None
    status, elapsed = response.status_code, sender.clock() - started
    # A service or a proxy may quote the key in its answer.
    key = sender.key.get_secret_value()
    mask = MASK if len(key) >= _MASKED_FROM else key
    headers = {name.lower(): value.replace(key, mask) for name, value in response.headers.items()}
    log.info("%s %s: %d in %.3f s", call.method, call.path, status, elapsed)
    log.debug("%s %s: request %s", call.method, call.path, request_id(headers))
    return Answer(status, headers, content.replace(key.encode(), mask.encode()), elapsed)


def delay_s(attempt: int, retry_after: float | None, random: float) -> float | None:
    """Seconds to wait after failed ``attempt`` (from 0), None to give up. Full jitter: a random
    part of 0.5 s, doubled with each attempt, at most 8 s. A Retry-After replaces that. When it is
    more than a minute there is no other attempt: the caller must decide about such a wait."""
    if retry_after is not None:
        return retry_after if retry_after <= _PATIENCE_S else None
    return random * min(_LONGEST_DELAY_S, _FIRST_DELAY_S * 2.0 ** min(attempt, 9))


def _in_doubt(failed: errors.ApiError | NoAnswer) -> bool:
    """Whether the failed request may nevertheless have been carried out."""
    if isinstance(failed, NoAnswer):
        return failed.sent
    return failed.status >= 500 and failed.status != 501


def _error(call: Call[Any], failed: errors.ApiError | NoAnswer) -> errors.PalprepError:
    what = f"{call.method} {call.path}"
    if _in_doubt(failed) and not call.endpoint.repeatable:
        return _unknown(call, failed, what)
    if isinstance(failed, errors.ApiError):
        return failed
    if not failed.sent:
        check = "Check the base URL and the network"
        if "CERTIFICATE_VERIFY_FAILED" in failed.detail:
            check += "; give the certificate of a private authority in SSL_CERT_FILE"
        return errors.ServiceUnreachable(
            f"{what}: the service could not be reached ({failed.detail}). Nothing was "
            f"carried out. {check}."
        )
    if failed.timed_out:
        return errors.TimedOut(
            f"{what}: no answer in time ({failed.detail}). It is safe to repeat; a longer "
            "timeout may help."
        )
    # A server that refuses a large body often closes the connection before all of it has come, so
    # that its 413 is lost (RFC 9110, section 15.5.14).
    size = len(call.content() or b"")
    large = (
        f" The request has {size:,} bytes: the service, or a proxy before it, may take fewer, and "
        "close the connection instead of answering 413. Give a smaller file."
    )
    return errors.TransportError(
        f"{what}: the connection ended without an answer ({failed.detail}). It is safe to repeat."
        + (large if size > _LARGE_BYTES else "")
    )


def _unknown(
    call: Call[Any], failed: errors.ApiError | NoAnswer, what: str
) -> errors.OutcomeUnknown:
    known: dict[str, Any] = {"call": call.describe()}
    if isinstance(failed, NoAnswer):
        how = "no answer in time" if failed.timed_out else "the connection ended"
        reason = f"{what}: {how} after sending ({failed.detail})."
    else:
        reason = f"{what}: the service answered {failed.words}"
        known |= {"status": failed.status, "body": failed.body, "request_id": failed.request_id}
    return errors.OutcomeUnknown(
        f"{reason} It may or may not have been carried out. Look it up on the service before "
        "sending it again; `call` says what was sent.",
        reason=reason,
        **known,
    )
