"""Addresses: which can be asked at all."""

from __future__ import annotations

import pytest

from palprep import Client
from palprep.api.records import host_of, is_address, is_https
from palprep.errors import UsageError
from palprep.publish import publisher_for

UNASKABLE = (
    "https://xn--/a.mp4",
    "https://a..b/",
    "https://.com/",
    f"https://{'a' * 64}.com/",
    "https://" + "a." * 127 + "com/",
    "https://h:99999/",
    "https://h:0/",
    "https://h:abc/",
    "https://a b/",
    "https://a\tb/",
    "https://h/\n",
    "https://%00/",
    "https://a\\b/",
    "https://[::1",
    "https://[::1%eth0]/",
    "https://[::1%25eth0]/",
    "https://\u202ea.com/",
    "https://\ud800/",
    "https:///a",
    "h",
)


@pytest.mark.parametrize("url", UNASKABLE)
def test_what_no_one_can_ask(url: str) -> None:
    assert not is_address(url)
    with pytest.raises(UsageError):
        Client(api_key="key", base_url=url)
    with pytest.raises(UsageError):
        publisher_for(url)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://exämple.com/ü b", "exämple.com"),
        ("http://[::1]:8700", "::1"),
        ("https://H.example.:443/", "h.example."),
        ("https://user@127.0.0.1/", "127.0.0.1"),
        ("https://xn--exmple-cua.com", "xn--exmple-cua.com"),
    ],
)
def test_what_can_be_asked(url: str, host: str) -> None:
    assert is_address(url)
    assert host_of(url) == host


def test_a_tools_address_may_hold_placeholders() -> None:
    assert is_https("https://{region}.example:{port}/{path}")


def test_a_name_that_the_library_refuses_is_an_error_of_use() -> None:
    client = Client(api_key="key", base_url="https://xn--ls8h.la")
    with client, pytest.raises(UsageError, match="no URL can be made"):
        client.voices.get("v")
