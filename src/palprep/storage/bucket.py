"""A bucket, or a part of one: objects are listed, read, written and signed for.

Names are relative to the URL that the bucket was opened with. Credentials come from ``config`` and
otherwise from the environment variables that :mod:`palprep.storage.clouds` names.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import obstore
import obstore.exceptions
from obstore.store import AzureStore, GCSStore, S3Store, from_url

from palprep.errors import UsageError
from palprep.storage.clouds import CLOUDS, Cloud, bucket_error, cloud_of
from palprep.storage.files import Fetched, GoOn, Stored, too_large, written

_RETRY_WITHIN = timedelta(seconds=60)
_FIRST_PAUSE = timedelta(seconds=0.5)
_RETRIES = 10
"""How a request that fails for a passing reason is repeated. obstore's pauses are random and grow
little: ten that begin with half a second take 8 to 35 s, its own six of a tenth took one or two."""


class Probe(NamedTuple):
    name: str
    content: bytes


PROBE = Probe("palprep-probe.txt", b"palprep writes this file before a run, and reads it again.\n")
"""Written and read before the work, to find out whether a bucket can be used."""

_PIECE_BYTES = 1 << 20
_PARTS_AT_ONCE = 4
"""obstore gives a part of 5 MiB 30 seconds: four at once need an uplink of 6 Mbit/s."""

_OF_CLIENT = re.compile(
    "(?:(?:aws|google|azure)_)?((?:allow_|connect_t|read_t|timeout|default_content_type|"
    r"default_headers|http[12]_|pool_|proxy_|randomize_addresses|root_certificate|user_agent)\w*)",
    re.IGNORECASE,
)
"""The client's options. obstore panics where it meets one among the settings of a store."""

_FAILURES = (obstore.exceptions.BaseError, FileNotFoundError, PermissionError, ValueError, OSError)


class Bucket:
    """What lies below ``url``, such as ``s3://BUCKET/PREFIX``.

    ``config`` holds settings of obstore's stores, and options of its client. Raises UsageError for
    a URL that names no bucket; StorageError where the configuration makes no sense. Nothing is sent
    before the first use.
    """

    def __init__(self, url: str, *, config: Mapping[str, Any] | None = None) -> None:
        self._cloud, place = _parted(url)
        self.url = url.rstrip("/")
        settings, client = dict[str, Any](), dict[str, Any]()
        for name, value in (config or {}).items():
            if found := _OF_CLIENT.match(name):
                client[found[1].lower()] = value
            else:
                settings[name] = value
        options: dict[str, Any] = {
            "config": settings,
            "retry_config": {
                "max_retries": _RETRIES,
                "retry_timeout": _RETRY_WITHIN,
                "backoff": {"init_backoff": _FIRST_PAUSE},
            },
        }
        if client:
            # Options given, even none at all, make obstore forget AWS_ALLOW_HTTP and its kin.
            options["client_options"] = client
        with self._failing():
            store = from_url(place, **options)
        assert isinstance(store, S3Store | GCSStore | AzureStore)  # noqa: S101 -- by its scheme
        self._store = store

    def look(self, name: str) -> Stored | None:
        """The object's size and tag; None where there is none."""
        with self._failing():
            try:
                found = obstore.head(self._store, name)
            except FileNotFoundError:
                # An answer to HEAD has no body that could say whether the bucket is missing,
                return None
            except _FAILURES as error:
                if "status code: 4" not in str(error):
                    raise
                # or why the key is not accepted.
                found = obstore.get(self._store, name, options={"range": (0, 1)}).meta
        return Stored(name, found["size"], found.get("e_tag"))

    def below(self, prefix: str = "") -> Iterator[Stored]:
        """All objects whose names begin with ``prefix`` and a slash, in the order of names."""
        with self._failing():
            for page in obstore.list(self._store, prefix.strip("/") or None):
                for found in page:
                    yield Stored(found["path"], found["size"], found.get("e_tag"))

    def put(self, name: str, content: Path | bytes, content_type: str | None = None) -> None:
        attributes: dict[Any, str] = {"Content-Type": content_type} if content_type else {}
        with self._failing():
            obstore.put(
                self._store, name, content, attributes=attributes, max_concurrency=_PARTS_AT_ONCE
            )

    def beginning(self, name: str, at_most: int) -> tuple[bytes, str]:
        """The first bytes of an object, and its type as it was written; empty where none was.

        Raises StorageError when there is no such object.
        """
        with self._failing(f"{self.url}/{name}"):
            found = obstore.get(self._store, name, options={"range": (0, at_most)})
            return bytes(found.bytes()), str(found.attributes.get("Content-Type", ""))

    def fetch(self, name: str, to: Path, *, max_bytes: int, go_on: GoOn | None = None) -> Fetched:
        """Write an object into the file ``to``.

        The file appears when all of it has arrived. Raises StorageError when there is no
        such object, or when it has more than ``max_bytes``; OutputUnwritable when the disk is full.
        """
        shown = f"{self.url}/{name}"
        with self._failing(shown):
            found = obstore.get(self._store, name)
        if found.meta["size"] > max_bytes:
            raise too_large(shown, max_bytes)

        def pieces() -> Iterator[bytes]:
            with self._failing(shown):
                for piece in found.stream(min_chunk_size=_PIECE_BYTES):
                    yield bytes(piece)

        return Fetched(*written(pieces(), to, go_on), found.meta.get("e_tag"))

    def delete(self, name: str) -> None:
        with self._failing(), contextlib.suppress(FileNotFoundError):
            obstore.delete(self._store, name)

    def sign(self, name: str, lasts: timedelta) -> str:
        """A URL that gives the object to whoever has it, for as long as ``lasts``."""
        with self._failing():
            return obstore.sign(self._store, "GET", name, lasts)

    @contextlib.contextmanager
    def _failing(self, shown: str | None = None) -> Iterator[None]:
        """What obstore raises becomes a StorageError about ``shown``, by default the bucket."""
        try:
            yield
        except _FAILURES as error:
            raise bucket_error(error, shown or self.url, self._cloud) from None


def object_at(url: str) -> tuple[Bucket, str]:
    """The bucket and the name of one object, such as ``s3://BUCKET/people/ada/portrait.jpg``."""
    place, _, name = url.rpartition("/")
    return Bucket(place), name


def _parted(url: str) -> tuple[Cloud, str]:
    """The cloud, and the bucket with its prefix as obstore takes them."""
    cloud = cloud_of(url)
    scheme, _, rest = url.partition("://")
    bucket, _, prefix = rest.partition("/")
    if cloud is None or not bucket:
        known = ", ".join(cloud.example for cloud in CLOUDS)
        raise UsageError(f"{url!r} names no bucket: give one of {known}")
    if {".", ".."} & {*prefix.split("/")}:
        raise UsageError(f"{url!r} cannot be used: no folder of a bucket is named . or ..")
    return cloud, f"{scheme}://{bucket}/{quote(prefix.strip('/'))}"
