"""A bucket as the place that the service fetches from, by links that are signed for a while."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import httpx

from palprep.errors import PublishError, StorageError, UsageError
from palprep.publish.link import BEGINNING_BYTES, Expected, link_client, try_link
from palprep.publish.publishers import Closing, Content, Hashed, Publishable, checked_url
from palprep.storage.bucket import PROBE, PROBE_NAME, RETRY_WITHIN, Bucket

if TYPE_CHECKING:
    # Exists for type checkers alone.
    from palprep.storage.bucket import BucketClient, BucketConfig

_SIGNED_FOR_AT_LEAST = timedelta(days=1)
"""Training fetches the file some time after the request."""
_SIGNED_FOR_AT_MOST = timedelta(days=7)
"""AWS Signature Version 4 and Google's V4 signing end here."""

_SESSION = "X-Amz-Security-Token="
"""In the links that temporary credentials sign."""


class ObjectStorePublisher(Closing):
    """Publishes into a bucket and hands out presigned GET URLs.

    ``url`` is ``s3://BUCKET/PREFIX``, ``gs://BUCKET/PREFIX`` or ``az://CONTAINER/PREFIX``.
    Credentials come from ``config`` (obstore's keys, such as ``access_key_id``, ``endpoint``,
    ``region``) and otherwise from the cloud's usual environment variables. ``expires`` is how long
    a URL works, one day at least and seven at most: training fetches the file some time after the
    request. A request that fails for a passing reason is repeated for ``retry_within``.

    Each URL is tried before it is handed out: fetched as the service would, without credentials.
    ``transport`` replaces the network of these trials alone, as in httpx.
    """

    def __init__(
        self,
        url: str,
        *,
        expires: timedelta = timedelta(days=2),
        config: BucketConfig | None = None,
        client_options: BucketClient | None = None,
        retry_within: timedelta = RETRY_WITHIN,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not _SIGNED_FOR_AT_LEAST <= expires <= _SIGNED_FOR_AT_MOST:
            raise UsageError(f"A presigned URL can last from 1 day up to 7 days, not {expires}")
        self._expires = expires
        try:
            self._bucket = Bucket(
                url, config=config, client_options=client_options, retry_within=retry_within
            )
        except StorageError as error:
            raise PublishError(f"Nothing can be published: {error.message}") from None
        self._http = link_client(transport)

    def publish(self, file: Publishable, name: str | None = None) -> str:
        """Upload unless it is there already, sign, and try the link.

        See :meth:`Publisher.publish`. Raises PublishError also when the link gives something else
        than the file.
        """
        content = Content.of(file)
        key = content.stored_name(name)
        try:
            expected = Expected.of(content.path, content.mime)
            found = self._bucket.look(key)
            if found is not None and found.size_bytes == expected.size_bytes:
                try:
                    return self._link(key, expected)
                except PublishError:
                    pass  # Something else lies under this name: it is written again.
            self._bucket.put(key, content.path, content.mime)
            return self._link(key, expected)
        except (OSError, StorageError) as error:
            raise PublishError(f"{content.name} could not be published: {error}") from None

    def link_to(self, file: Hashed) -> str | None:
        """The link of a file that lies in the bucket already; None where it does not.

        The file itself is not looked at: its name holds its SHA-256. The link is tried, as
        :meth:`publish` tries it. Raises PublishError.
        """
        key = Content(file.path, file.sha256, file.path.name).stored_name()
        try:
            found = self._bucket.look(key)
            if found is None:
                return None
            beginning, mime = self._bucket.beginning(key, BEGINNING_BYTES)
            return self._link(key, Expected(found.size_bytes, mime, beginning))
        except StorageError as error:
            raise PublishError(f"{file.path.name} could not be published: {error}") from None

    def probe(self) -> tuple[str, ...]:
        """Write a small file, ``palprep-probe.txt``, and fetch it by a signed link.

        Gives what should be known though it works, one sentence each. Raises PublishError with what
        is wrong: the credentials, their rights, the bucket, its address. Needs the rights that
        publishing needs, to read and to write objects.
        """
        expected = Expected(len(PROBE), "text/plain", PROBE)
        try:
            self._bucket.put(PROBE_NAME, PROBE, expected.mime)
            url = self._link(PROBE_NAME, expected)
        except StorageError as error:
            raise PublishError(f"Nothing can be published: {error.message}") from None
        return (_of_a_session(os.environ),) if _SESSION in url else ()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _link(self, key: str, expected: Expected) -> str:
        url = checked_url(self._bucket.sign(key, self._expires))
        try_link(self._http, url, expected)
        return url


def _of_a_session(environ: Mapping[str, str]) -> str:
    until = _moment(environ.get("AWS_CREDENTIAL_EXPIRATION", ""))
    when = f"on {until:%Y-%m-%d at %H:%M} UTC" if until else "after some hours"
    return (
        f"The bucket's credentials are temporary: every link ends with their session, {when}. A "
        "training that begins later cannot fetch its files; sign with a long-lived access key"
    )


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return None
