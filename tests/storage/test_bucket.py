"""A real bucket is listed, read and written; what goes wrong is said in words that help."""

from __future__ import annotations

import gc
import hashlib
import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from bucket import KEYS, real_bucket
from loopback import answer, hang_up, loopback
from scripted_bucket import answering

from palprep.errors import OutputUnwritable, StorageError, UsageError
from palprep.storage import Bucket, object_at

HTTP: Any = {"allow_http": True}
pytestmark = pytest.mark.usefixtures("impatient")
AZURE_KEYS = {"account_name": "someone", "account_key": "c2VjcmV0c2VjcmV0"}


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory) -> Iterator[str]:
    with real_bucket(tmp_path_factory.mktemp("s3")) as address:
        yield address


@pytest.fixture
def people(endpoint) -> Bucket:
    return s3(endpoint, "s3://media/people/")


def s3(endpoint: str, url: str = "s3://media", **config: Any) -> Bucket:
    options: Any = {**KEYS, "endpoint": endpoint, **config}
    return Bucket(url, config={**options, **HTTP})


def test_objects_are_written_and_read_under_their_prefix(people, endpoint, tmp_path):
    big = tmp_path / "big.mp4"
    big.write_bytes(bytes(range(256)) * 24_000)
    people.put("ada/big.mp4", big, "video/mp4")
    people.put("ada/Zoë's #1?.txt", b"hello")
    assert people.beginning("ada/Zoë's #1?.txt", 5)[0] == b"hello"
    found = people.fetch("ada/big.mp4", tmp_path / "back.mp4", max_bytes=1 << 24)
    assert (tmp_path / "back.mp4").read_bytes() == big.read_bytes()
    assert found.sha256 == hashlib.sha256(big.read_bytes()).hexdigest()
    looked = people.look("ada/big.mp4")
    assert looked is not None
    assert (looked.size_bytes, looked.etag) == (found.size_bytes, found.etag)
    assert [each.name for each in people.below("ada")] == ["ada/Zoë's #1?.txt", "ada/big.mp4"]
    assert [each.name for each in s3(endpoint).below("people")] == [
        "people/ada/Zoë's #1?.txt", "people/ada/big.mp4",
    ]  # fmt: skip
    assert list(people.below("a")) == []
    people.delete("ada/big.mp4")
    people.delete("ada/big.mp4")
    assert people.look("ada/big.mp4") is None


def test_a_link_works_without_credentials(people):
    people.put("link.txt", b"hello", "text/plain")
    fetched = httpx.get(people.sign("link.txt", timedelta(days=1)))
    assert (fetched.content, fetched.headers["content-type"]) == (b"hello", "text/plain")


def test_too_large_an_object_is_not_fetched(people, tmp_path):
    people.put("large.bin", b"x" * 2000)
    with pytest.raises(StorageError, match=r"large\.bin has more than 1,999 bytes"):
        people.fetch("large.bin", tmp_path / "large.bin", max_bytes=1999)
    assert list(tmp_path.iterdir()) == []


def test_no_such_object(people, tmp_path):
    with pytest.raises(StorageError, match=r"s3://media/people/none\.txt .*there is no such file"):
        people.beginning("none.txt", 10)


def test_nothing_is_fetched_into_a_folder_that_cannot_be_made(people, tmp_path):
    people.put("one.txt", b"hello")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputUnwritable, match="cannot be written"):
        people.fetch("one.txt", tmp_path / "file" / "one.txt", max_bytes=10)


def listed(*objects: tuple[str, int]) -> Any:
    """Answers as S3 does to whoever lists a bucket."""
    found = "".join(
        f"<Contents><Key>{key}</Key><Size>{size}</Size><ETag>e</ETag>"
        "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
        for key, size in objects
    )
    listing = f"<ListBucketResult><IsTruncated>false</IsTruncated>{found}</ListBucketResult>"
    return answer(listing.encode())


def test_the_marks_of_folders_are_told_from_files():
    objects = ("people/", 0), ("people/ada/", 0), ("people/ada/a.jpg", 3), ("people/ada/b.jpg", 0)
    for url in ("s3://media/people", "s3://media//people/"):
        with loopback(listed(*objects)) as server:
            found = [*s3(server.url, url).below()]
        files = [each.name for each in found if not each.may_mark_folder]
        assert files == ["ada/a.jpg", "ada/b.jpg"]


@pytest.mark.parametrize("key", ["people//a.jpg", "people/../a.jpg", "people/a&#1;.jpg"])
def test_a_name_that_cannot_be_read_is_told(key):
    with loopback(listed((key, 3))) as server:
        with pytest.raises(
            StorageError, match=r"a name in it cannot be read .* Rename that object"
        ):
            list(s3(server.url).below())
        # The store closes its connection with the last reference, and the error holds one.
        gc.collect()


@pytest.mark.parametrize("url", ["s3://", "ftp://media", "media", "s3:///x"])
def test_what_names_no_bucket(url):
    with pytest.raises(UsageError, match="names no bucket: give one of s3://BUCKET/PREFIX"):
        Bucket(url)


@pytest.mark.parametrize("url", ["s3://media", "gs://media", "az://media"])
@pytest.mark.parametrize(
    "option",
    [
        *({"timeout": "1s"}, {"{}_timeout": "1s"}, {"ALLOW_HTTP": True}, {"{}_read_timeout": "1s"}),
        {"default_headers": {"x-team": "media"}},
    ],
)
def test_options_of_the_client_are_told_from_settings(url, option):
    """obstore panics where it meets one among the settings."""
    cloud = {"s3": "aws", "gs": "google", "az": "azure"}[url[:2]]
    keys = AZURE_KEYS if cloud == "azure" else {}
    named = {name.format(cloud): value for name, value in option.items()}
    assert Bucket(url, config={**keys, **named}).url == url


@pytest.mark.parametrize("url", ["s3://media/a/../b", "s3://media/.."])
def test_a_prefix_leads_nowhere_else(url):
    with pytest.raises(UsageError, match=r"named \. or \.\."):
        Bucket(url)


def test_one_object_is_named_by_its_url(monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    bucket, name = object_at("s3://media/people/ada.jpg")
    assert (bucket.url, name) == ("s3://media/people", "ada.jpg")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"secret_access_key": "wrong"}, r"not accepted \(SignatureDoesNotMatch\)\. Check AWS_ACC"),
        ({"access_key_id": "wrong"}, r"not accepted \(InvalidAccessKeyId\)"),
        ({"endpoint": "http://127.0.0.1:9"}, r"http://127\.0\.0\.1:9 does not answer\. Check its"),
        ({"endpoint": "https://nowhere.invalid"}, r"nowhere\.invalid (does not|is not known)"),
        ({"secret_access_key": None}, "there are no credentials. Set AWS_ACCESS_KEY_ID and AWS_S"),
    ],
)
def test_a_real_server_says_no(endpoint, changed, said):
    config = {key: value for key, value in ({**KEYS, **changed}).items() if value is not None}
    with pytest.raises(StorageError, match=said) as caught:
        Bucket(
            "s3://media/people",
            config={"endpoint": endpoint, **config, **HTTP},
        ).put("x.txt", b"x")
    assert str(caught.value).startswith("s3://media/people cannot be used: ")
    assert KEYS["secret_access_key"] not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_setting_that_cannot_be_read_is_named(monkeypatch):
    monkeypatch.setenv("AWS_TIMEOUT", "soon")
    with pytest.raises(StorageError, match=r'"soon" as Duration\)\. Check AWS_ALLOW_HTTP, which'):
        Bucket("s3://media", config=KEYS).put("x.txt", b"x")


def test_plain_http_must_be_wanted(endpoint):
    bucket = Bucket("s3://media", config={**KEYS, "endpoint": endpoint})
    with pytest.raises(StorageError, match=r"is not https\. .* set AWS_ALLOW_HTTP=true"):
        bucket.put("x.txt", b"x")


def test_https_to_a_server_without_it(endpoint):
    bucket = s3(endpoint.replace("http", "https"))
    with pytest.raises(StorageError, match=r"https://127.* does not answer"):
        bucket.put("x.txt", b"x")


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (404, "NoSuchBucket", "there is no such bucket. Make it, or correct the name"),
        (400, "ExpiredToken", "its credentials have expired. Get new ones"),
        (403, "AccessDenied", "lack the right for this (AccessDenied). Let them read and write"),
        (403, "RequestTimeTooSkewed", "this machine's clock is wrong"),
        (301, "PermanentRedirect", "in another region. Set AWS_REGION"),
        (400, "AuthorizationHeaderMalformed", "in another region. Set AWS_REGION"),
        (503, "SlowDown", "answers with status 503, again and again"),
    ],
)
def test_what_s3_answers(status, code, said):
    with answering(status, code) as address, pytest.raises(StorageError) as caught:
        s3(address).put("x.txt", b"x")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (400, "ExpiredToken", "its credentials have expired. Get new ones"),
        (403, "RequestTimeTooSkewed", "this machine's clock is wrong"),
    ],
)
def test_a_look_says_why_although_an_answer_to_head_has_no_body(status, code, said):
    with answering(status, code) as address, pytest.raises(StorageError, match=said):
        s3(address).look("x.txt")


def test_a_burst_of_refusals_is_outlasted(monkeypatch):
    """It was given up after seven requests, in a second or two."""
    monkeypatch.setattr("palprep.storage.bucket._RETRY_WITHIN", timedelta(seconds=60))
    monkeypatch.setattr("palprep.storage.bucket._FIRST_PAUSE", timedelta(milliseconds=1))
    with loopback(*[answer(b"", "503 Slow Down")] * 10, listed(("x", 1))) as server:
        assert [each.name for each in s3(server.url).below()] == ["x"]
    assert len(server.arrived) == 11


def test_a_connection_that_ends_without_an_answer_is_told(endpoint):
    """It was a generic error, with the numbers of obstore's retries."""
    with loopback(hang_up) as server:
        with pytest.raises(
            StorageError, match=r"1:\d+ ends the connection without an answer\. Try"
        ):
            s3(server.url).put("x.txt", b"x")
        gc.collect()


def test_a_transfer_that_is_cut_off_is_told_as_that(tmp_path, monkeypatch):
    """It was a generic error, with advice about the address and its variables."""

    def cut(connection: socket.socket) -> None:
        head = "Last-Modified: Sat, 01 Aug 2026 12:00:00 GMT\r\nETag: e\r\nContent-Length: 100"
        connection.sendall(f"HTTP/1.1 200 OK\r\n{head}\r\n\r\nhalf".encode())
        connection.shutdown(socket.SHUT_RDWR)

    monkeypatch.setattr("palprep.storage.bucket._RETRIES", 0)
    with loopback(cut) as server:
        with pytest.raises(StorageError, match=r"x\.txt .*the transfer was cut off. Try again$"):
            s3(server.url).fetch("x.txt", tmp_path / "x.txt", max_bytes=100)
        gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (404, "ContainerNotFound", "there is no such container"),
        (403, "AuthenticationFailed", "Check AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACC"),
        (403, "AuthorizationPermissionMismatch", "lack the right"),
    ],
)
def test_what_azure_answers(status, code, said):
    with answering(status, code) as address, pytest.raises(StorageError) as caught:
        Bucket(
            "az://media",
            config={**AZURE_KEYS, "endpoint": address, **HTTP},
        ).put("x.txt", b"x")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("url", "variables", "said"),
    [
        ("az://media", {}, "Set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY"),
        (
            "az://media",
            {"AZURE_STORAGE_ACCOUNT_NAME": "a", "AZURE_STORAGE_ACCOUNT_KEY": "x"},
            "the credentials cannot be read",
        ),
        ("gs://media", {"GOOGLE_SERVICE_ACCOUNT": "/nowhere.json"}, "Check GOOGLE_SERVICE_ACCOUNT"),
    ],
)
def test_credentials_of_the_environment(monkeypatch, url, variables, said):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(StorageError, match=said):
        Bucket(url)


def test_a_folder_and_a_bucket_give_the_same_bytes(people, tmp_path):
    path = Path(tmp_path / "clip.wav")
    path.write_bytes(b"RIFF")
    people.put("same", path)
    assert people.beginning("same", 4)[0] == path.read_bytes()
