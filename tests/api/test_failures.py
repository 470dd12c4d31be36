"""From error replies to typed errors."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from palprep import errors
from palprep.api import calls
from palprep.api.failures import failure, retry_after

QUOTED = "See https://e.com/a.m4a?*** ('http://e.com/?***')"


@pytest.mark.parametrize(
    ("body", "shape", "code"),
    [
        ({"error": "bad"}, "error", None),
        ({"message": "no"}, "message", None),
        ({"message": "m", "error": "e", "code": "c"}, "message-error-code", "c"),
        ({"error": {"nested": 1}}, None, None),
        ({"error": {"message": "deep"}}, None, None),
        ("<html>", None, None),
        (None, None, None),
    ],
)
def test_the_three_shapes(body: Any, shape: str | None, code: str | None) -> None:
    error = failure(400, {"x-request-id": "r1"}, body)
    assert isinstance(error, errors.BadRequest)
    assert (error.status, error.shape, error.service_code) == (400, shape, code)
    assert (error.body, error.request_id) == (body, "r1")
    assert error.headers == {"x-request-id": "r1"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "deep", "type": "x"}}, "deep"),
        ({"type": "about:blank", "title": "Short", "detail": "At length."}, "At length"),
        ({"title": "Only a title"}, "Only a title"),
        ({"detail": [{"loc": ["body", "name"], "msg": "too long"}]}, "body.name: too long"),
        ({"errors": ["one", {"message": "two"}]}, "one; two"),
        ({"detail": {"error": "inside"}}, "inside"),
        ([{"message": "a list"}], "a list"),
        ("words\x1b[31m\u202e", r"words\x1b[31m\u202e"),
        ({"message": "a\x00"}, r"a\x00"),
        ({"error": "See https://e.com/a.m4a?Sig=hush&x=1 ('http://e.com/?a')"}, QUOTED),
        ({"error": {"a.b": ["too long", "odd"], "n": 5}}, "a.b: too long; odd"),
        ({"errors": {"name": "missing", "age": "low"}}, "name: missing; age: low"),
        ({"error": {"request": {"headers": {"x-api-key": "sk-1"}}}}, "no explanation"),
        ({"errors": []}, "no explanation"),
        ({"a": "b"}, "no explanation"),
        ({"request": {"headers": {"x-api-key": "sk-1"}}}, "no explanation"),
        ({"detail": float("nan")}, "no explanation"),
    ],
)
def test_the_words_of_every_shape_are_told(body: Any, said: str) -> None:
    assert failure(400, {}, body).message == f"the service answered 400: {said}."


@pytest.mark.parametrize(
    "wrap", [str, lambda t: {"message": t}, lambda t: {"error": {"detail": t}}]
)
def test_a_long_text_is_cut(wrap: Any) -> None:
    error = failure(400, {}, wrap("x" * 10_000_000))
    assert error.message == f"the service answered 400: {'x' * 2000}…."


def test_the_page_of_a_proxy_is_told_by_its_title() -> None:
    page = "<!DOCTYPE html>\n<html><head><title>\n 502 Bad Gateway </title><style>b{}</style>"
    assert str(failure(502, {}, page)).startswith("the service answered 502: 502 Bad Gateway. The")
    assert "answered 502: 1 < 2 <title>" in str(failure(502, {}, "1 < 2 <title>x</title>"))


def test_a_redirect_says_where_to() -> None:
    moved = failure(307, {"location": "/v2/voices/?sig=secret\x1b"}, None)
    assert str(moved).endswith("The service redirects to /v2/voices/; check the base URL.")
    assert str(failure(300, {}, None)).endswith("The service redirects; check the base URL.")


def test_words_nested_without_end_are_no_traceback() -> None:
    body: Any = "deep"
    for _ in range(5000):
        body = {"error": [body]}
    assert "no explanation" in failure(400, {}, body).message


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.BadRequest),
        (401, errors.AuthenticationError),
        (403, errors.PermissionDenied),
        (404, errors.NotFound),
        (409, errors.Conflict),
        (412, errors.Conflict),
        (413, errors.PayloadTooLarge),
        (422, errors.BadRequest),
        (429, errors.RateLimited),
        (500, errors.ServiceUnavailable),
        (503, errors.ServiceUnavailable),
        (307, errors.ApiError),
        (418, errors.ApiError),
    ],
)
def test_statuses(status: int, kind: type[errors.ApiError]) -> None:
    assert type(failure(status, {}, None)) is kind


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"message": "Invalid access token"}, errors.AuthenticationError),
        ({"message": "Document not found"}, errors.NotFound),
        ({"error": "Voice creation requires a user-scoped API key"}, errors.PermissionDenied),
        ({"error": "A tool with this name already exists"}, errors.Conflict),
        # Of another shape than the specification has these words in.
        ({"error": "document d9 not found"}, errors.BadRequest),
        ({"error": {"message": "Invalid access token"}}, errors.BadRequest),
        ("Invalid access token", errors.BadRequest),
    ],
)
def test_the_words_of_the_specification_decide_where_the_status_is_bare(
    status: int, body: Any, kind: type[errors.ApiError]
) -> None:
    assert type(failure(status, {}, body)) is kind


@pytest.mark.parametrize("status", [404, 409, 418, 500])
def test_any_other_status_decides_and_not_the_text(status: int) -> None:
    error = failure(status, {}, {"message": "Invalid access token"})
    assert type(error) is type(failure(status, {}, None))


def test_a_body_that_is_too_large_is_not_led_to_a_fix_that_keeps_its_size() -> None:
    message = failure(413, {}, None).message
    assert message.endswith("or a proxy before it, takes. Give a smaller file.")
    assert "palprep fix" not in message


def test_a_stated_failure_is_explained() -> None:
    call = calls.runtime_check_connector("c")
    error = call.failure(409, {}, b"")
    assert "OAuth not finished" in str(error)
    assert error.call == {"method": "POST", "path": "/v2/connectors/c/runtime_check"}


def test_errors_pickle_whole() -> None:
    error = failure(429, {"retry-after": "7", "request-id": "r"}, {"error": "slow down"})
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 -- our own bytes
    assert type(again) is errors.RateLimited
    assert vars(again) == vars(error)
    assert again.retry_after == 7.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("Sat, 01 Aug 2026 12:00:30 GMT", None),
        ("1.5", 1.5),
        ("soon", None),
        ("inf", None),
        ("1e9", None),
        ("9" * 400, None),
        ("-3", None),
        ("", None),
    ],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}) == seconds


@pytest.mark.parametrize(
    ("until", "date", "seconds"),
    [
        ("Sat, 01 Aug 2026 12:00:30 GMT", "Sat, 01 Aug 2026 12:00:00 GMT", 30.0),
        ("Sat, 01 Aug 2026 12:00:30 GMT", "Sat, 01 Aug 2026 12:01:00 GMT", 0.0),
        ("Sat, 01 Aug 2026 12:00:30", "Sat, 01 Aug 2026 12:00:00 GMT", None),
        (f"Sat, 01 Aug {'9' * 400} 12:00:30 GMT", "Sat, 01 Aug 2026 12:00:00 GMT", None),
        ("Sat, 01 Aug 2026 12:00:30 GMT", "now", None),
    ],
)
def test_a_date_to_wait_for_counts_from_that_of_the_answer(
    until: str, date: str, seconds: float | None
) -> None:
    assert retry_after({"retry-after": until, "date": date}) == seconds


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        ("7", "7 s"),
        ("90", "1.5 min"),
        ("86400", "24 h"),
        ("129600", "36 h"),
        ("216000", "2.5 days"),
        ("2300400000", "26,625 days"),
        ("9" * 15, "11,574,074,074 days"),
    ],
)
def test_how_long_the_service_asks_to_wait_is_told(seconds: str, words: str) -> None:
    error = failure(429, {"retry-after": seconds}, {"error": "slow down"})
    assert error.message.endswith(f"slow down. The service asks to wait {words}; try again then.")
