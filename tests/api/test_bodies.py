"""Bodies as they are read: strictly, or leniently."""

from __future__ import annotations

import time

import pytest

from palprep.api import calls, json_value, mask_links, mended_json, read_body, redact


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a": [1, 2.5, "\\ud83d\\ude00"]}', {"a": [1, 2.5, "\U0001f600"]}),
        ('\ufeff"Zoë"'.encode(), "Zoë"),
        (b'"\\\\ud800"', "\\ud800"),
    ],
)
def test_values(body: bytes, value: object) -> None:
    assert json_value(body) == value


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"{", "EOF while parsing an object"),
        (b"[NaN]", "expected value"),
        (b"1e999", "Out of range float values are not JSON"),
        (b"[" * 200_000, "recursion limit exceeded"),
        (b'{"id": "\\ud800"}', "hex escape"),
        (b'"\xed\xa0\x80"', "invalid unicode"),
        ('"Zoë"'.encode("utf-16"), "expected value"),
    ],
)
def test_what_cannot_be_kept(body: bytes, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        json_value(body)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b'{"a": ["]", ' + b"[" * 200 + b"]" * 200 + b"]}", "recursion limit exceeded"),
        (b"[" * 200_000, "nested too deeply"),
        (b'"' + b'\\"' * 30_000 + b"[" * 101, "Unterminated string"),
        (b"[NaN]", "Out of range float values are not JSON"),
        (b'"\xed\xa0\x80"', "can't decode"),
    ],
)
def test_what_no_one_mends(body: bytes, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        mended_json(body)


def test_halves_are_mended_and_brackets_in_strings_are_text() -> None:
    assert mended_json(b'{"\\ud800": "a\\udc00\\ud83d\\ude00"}') == {"\ufffd": "a\ufffd\U0001f600"}
    text = b'["' + b"[" * 200 + b'\\"]"' + b",[]" * 200 + b"]"
    assert mended_json(text) == ["[" * 200 + '"]', *([],) * 200]


def test_bodies_that_are_no_json_are_kept_as_text() -> None:
    assert read_body(b"") is None
    assert read_body(b'{"a":1}') == {"a": 1}
    assert read_body(b"\xffoops") == "\ufffdoops"
    assert read_body(b'\xef\xbb\xbf{"a":"\xff"}') == {"a": "\ufffd"}


def test_a_reply_that_was_cut_within_a_character_is_read() -> None:
    body = b'{"ok":false,"error":{"message":"it says \\ud83d"}}'
    check = calls.runtime_check_connector.read(read_body(body), strict=True)
    assert (check.error.message, read_body(b'"\\ud83d\\ude00"')) == ("it says \ufffd", "\U0001f600")


def test_what_is_no_text_is_shown_as_it_is() -> None:
    value = {"n": 7, "share": 0.5, "on": True, "none": None}
    assert redact(value) == value


def test_a_tools_query_may_hold_a_key() -> None:
    api = {"url": "https://me.example/x", "query_params": {"sig": "secret"}}
    assert redact({"delivery": {"api": api}}) == {
        "delivery": {"api": api | {"query_params": "***"}}
    }


def test_a_link_within_a_text_is_shown_without_its_query() -> None:
    said = "HTTPS://e.com/a?sig=hush cannot be fetched"
    assert redact({"error_message": f"The file {said}"}) == {
        "error_message": "The file HTTPS://e.com/a?*** cannot be fetched"
    }
    assert "hush" not in str(redact([said]))


@pytest.mark.parametrize(
    "link", ["https://ada:hush@host/a.wav", "HTTP://hush@host?b=c", "https://ada:hush@host:8443"]
)
def test_user_and_password_of_a_link_in_a_text_are_masked(link: str) -> None:
    told = redact({"error_message": f"Cannot fetch {link}, write to ops@host.example"})
    assert "hush" not in str(told)
    assert "://***@host" in told["error_message"]
    assert told["error_message"].endswith("write to ops@host.example")


def test_any_number_of_links_is_masked_in_one_go() -> None:
    """Each was read to the end of the text: an error of a megabyte took ten minutes."""
    began = time.process_time()
    assert mask_links("http://u:p@" * 20_000) == "http://***@" * 20_000
    assert time.process_time() - began < 2.0
