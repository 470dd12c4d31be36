"""The places that the service fetches prepared files from: a sandbox's asset host, and buckets."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Self
from urllib.parse import quote, urlsplit

import httpx

from palprep.api.records import host_of, is_address, is_link, is_loopback
from palprep.errors import PublishError, ServiceUnreachable, StorageError, UsageError
from palprep.publish.content import Content, Hashed, Publishable, checked_url
from palprep.storage import PROBE, Bucket, http_client
from palprep.values import typed

_SIGNED_FOR_AT_LEAST = timedelta(days=1)
"""Training fetches the file some time after the request."""
_SIGNED_FOR_AT_MOST = timedelta(days=7)
"""The limit of AWS Signature Version 4 and of Google's V4 signing."""

_SESSION_PARAMETER = "X-Amz-Security-Token="
"""Of links that were signed with temporary credentials."""

_TIMEOUT_S = 30.0
_LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")

BEGINNING_BYTES = 4096
"""How much of a file is compared with what its link gives."""


class Sample(NamedTuple):
    """How a file is recognised behind its link: by its size, its type, and its first bytes."""

    size_bytes: int
    mime: str
    beginning: bytes


class _Connected:
    """A publisher with connections, which are closed at the end of a ``with`` block."""

    _http: httpx.Client

    def probe(self) -> tuple[str, ...]:
        """Try to publish. Returns what the user should know although it works, one sentence each.

        Raises PublishError where it does not work.
        """
        return ()

    def _content(self, file: Publishable) -> Content:
        """The content of the file. Raises UsageError when this publisher is closed."""
        if self._http.is_closed:
            raise UsageError("The publisher is closed. Make another one, or close it later.")
        return Content.of(file)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SandboxPublisher(_Connected):
    """Publishes into the asset host of a palprep sandbox.

    ``transport`` replaces the network, as in httpx.
    """

    @typed("base_url")
    def __init__(self, base_url: str, *, transport: httpx.BaseTransport | None = None) -> None:
        if not is_link(base_url):
            raise UsageError(f"The sandbox's URL {base_url!r} is not of the form http://HOST:PORT")
        # An http_proxy of the environment must not stand between loopback and loopback.
        self._http = httpx.Client(
            base_url=base_url, timeout=60.0, transport=transport, trust_env=False
        )

    def publish(self, file: Publishable, name: str | None = None) -> str:
        """Stream the file into the sandbox. See :meth:`Publisher.publish`."""
        content = self._content(file)
        place = f"/_sandbox/assets/{quote(content.stored_name(name))}"
        try:
            with content.path.open("rb") as opened:
                reply = self._http.put(place, content=opened)
            content.require_unchanged()
            return checked_url(str(reply.raise_for_status().json()["url"]))
        except (httpx.HTTPError, OSError, ValueError, KeyError, TypeError) as error:
            gone = isinstance(error, httpx.ConnectError)
            why = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
            raise (ServiceUnreachable if gone else PublishError)(
                f"{content.name} could not be sent to the sandbox's asset host at "
                f"{self._http.base_url}: {why}. `palprep sandbox` starts one, and nothing else has "
                "it; for another service name a bucket to publish to (s3://, gs:// or az://)"
            ) from None


class ObjectStorePublisher(_Connected):
    """Publishes into a bucket and hands out presigned GET URLs.

    ``url`` is ``s3://BUCKET/PREFIX``, ``gs://BUCKET/PREFIX`` or ``az://CONTAINER/PREFIX``.
    Credentials come from ``config`` (obstore's keys, such as ``access_key_id``, ``endpoint``,
    ``region``) and otherwise from the cloud's usual environment variables. ``expires`` is how long
    a URL works, one day at least and seven at most: training fetches the file some time after the
    request. A request that fails for a passing reason is repeated, mostly for 8 to 35 s.

    Each URL is tried before it is handed out: fetched as the service would, without credentials.
    ``transport`` replaces the network of these trials alone, as in httpx.
    """

    @typed("url", "expires", "config")
    def __init__(
        self,
        url: str,
        *,
        expires: timedelta = timedelta(days=2),
        config: Mapping[str, Any] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not _SIGNED_FOR_AT_LEAST <= expires <= _SIGNED_FOR_AT_MOST:
            raise UsageError(f"A presigned URL can last from 1 day up to 7 days, not {expires}")
        self._expires = expires
        # A proxy of the environment is used, but not to loopback.
        mounts = dict.fromkeys(_LOOPBACK, transport)
        try:
            self._bucket = Bucket(url, config=config)
            options = {"mounts": mounts, "timeout": _TIMEOUT_S, "follow_redirects": True}
            self._http = http_client(httpx.Client, transport=transport, **options)
        except StorageError as error:
            raise PublishError(f"Nothing can be published: {error}") from None

    def publish(self, file: Publishable, name: str | None = None) -> str:
        """Upload the file unless it is there already, sign a link, and try it.

        See :meth:`Publisher.publish`. Also raises PublishError when the link gives something else.
        """
        content = self._content(file)
        key = content.stored_name(name)
        try:
            with content.path.open("rb") as opened:
                beginning = opened.read(BEGINNING_BYTES)
            expected = Sample(content.path.stat().st_size, content.mime, beginning)
            # Where something else has this name, it is written again; and where S3 does not say
            # what is there, to a key without the right to list.
            with contextlib.suppress(PublishError, StorageError):
                if self._bucket.look(key) is not None:
                    return self._link(key, expected)
            self._bucket.put(key, content.path, content.mime)
            content.require_unchanged()
            return self._link(key, expected)
        except (OSError, StorageError) as error:
            raise PublishError(f"{content.name} could not be published: {error}") from None

    def link_to(self, file: Hashed) -> str | None:
        """The link of a file that is in the bucket already; None for one that is not.

        The file is not read: its name in the bucket holds its SHA-256. The link is tried as in
        :meth:`publish`. Raises PublishError.
        """
        key = Content(file.path, file.sha256, file.path.name).stored_name()
        try:
            stored = self._bucket.look(key)
            if stored is None:
                return None
            beginning, mime = self._bucket.beginning(key, BEGINNING_BYTES)
            return self._link(key, Sample(stored.size_bytes, mime, beginning))
        except StorageError as error:
            raise PublishError(f"{file.path.name} could not be published: {error}") from None

    def probe(self) -> tuple[str, ...]:
        """Write a small file, ``palprep-probe.txt``, and fetch it by a signed link.

        Returns what the user should know although it works, one sentence each. Raises PublishError
        with what is wrong: the credentials, their rights, the bucket, its address. Needs the rights
        that publishing needs, to read and to write objects.
        """
        expected = Sample(len(PROBE.content), "text/plain", PROBE.content)
        try:
            self._bucket.put(*PROBE, expected.mime)
            url = self._link(PROBE.name, expected)
        except StorageError as error:
            raise PublishError(f"Nothing can be published: {error.message}") from None
        return (_session_warning(os.environ),) if _SESSION_PARAMETER in url else ()

    def _link(self, key: str, expected: Sample) -> str:
        """A signed link that was tried: the beginning of its content was fetched and compared.

        Raises PublishError when the link does not work or gives something else. The message holds
        no signature.
        """
        url = checked_url(self._bucket.sign(key, self._expires))
        where = urlsplit(url)
        shown = f"The link to {where.path.rpartition('/')[2]} at {where.hostname}"
        try:
            with self._http.stream("GET", url, headers={"Accept-Encoding": "identity"}) as reply:
                if reply.status_code != httpx.codes.OK:
                    busy = reply.status_code >= httpx.codes.INTERNAL_SERVER_ERROR
                    advice = "let whoever has a signed link read this prefix"
                    raise PublishError(
                        f"{shown} does not work: a GET without credentials gets status "
                        f"{reply.status_code}. The service would get the same; "
                        f"{'try again later' if busy else advice}"
                    )
                found = _sample_of(reply)
        except httpx.HTTPError as error:
            raise PublishError(
                f"{shown} does not work from here: {error or type(error).__name__}. The service "
                "could not fetch it either"
            ) from None
        if found != expected:
            raise PublishError(
                f"{shown} gives {_difference(found, expected)}. Something between here and the "
                "bucket changes files, or something else was written under this name"
            )
        return url


def _session_warning(environ: Mapping[str, str]) -> str:
    """That links stop working when the session of temporary credentials ends, and when that is."""
    try:
        until = datetime.fromisoformat(environ.get("AWS_CREDENTIAL_EXPIRATION", ""))
        when = f"on {until.astimezone(UTC):%Y-%m-%d at %H:%M} UTC"
    except ValueError:
        when = "after some hours"
    return (
        f"The bucket's credentials are temporary: every link ends with their session, {when}. A "
        "training that begins later cannot fetch its files; sign with a long-lived access key"
    )


def publisher_for(
    base_url: str, publish_to: str | None = None
) -> SandboxPublisher | ObjectStorePublisher:
    """A publisher that the service at ``base_url`` can fetch from.

    ``publish_to`` is the URL of a bucket, as :class:`~palprep.ObjectStorePublisher` takes it. A
    sandbox on this machine needs none: it has an asset host of its own. Raises UsageError where
    a bucket is needed and not named.
    """
    if publish_to is not None:
        return ObjectStorePublisher(publish_to)
    if not is_address(base_url):
        raise UsageError(
            f"{base_url.rpartition('@')[2]!r} is no address that can be asked. Check "
            "PALPREP_BASE_URL."
        )
    if is_loopback(host_of(base_url)):
        return SandboxPublisher(base_url)
    raise UsageError(
        f"{base_url} fetches media by URL. Name a bucket that it can read, with --publish-to or in "
        "PALPREP_PUBLISH_TO: s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX"
    )


@typed("environ")
def publisher_from_env(
    environ: Mapping[str, str] | None = None,
) -> SandboxPublisher | ObjectStorePublisher:
    """A publisher for the service at PALPREP_BASE_URL, into the bucket in PALPREP_PUBLISH_TO.

    A sandbox on this machine needs no bucket. ``environ`` replaces the process's environment.
    Raises UsageError where something is not set.
    """
    environ = os.environ if environ is None else environ
    base_url = environ.get("PALPREP_BASE_URL", "").strip()
    if not base_url:
        raise UsageError(
            "PALPREP_BASE_URL is not set. Set it to the service's URL, or to the one that "
            "`palprep sandbox` prints."
        )
    return publisher_for(base_url, environ.get("PALPREP_PUBLISH_TO", "").strip() or None)


def _difference(found: Sample, expected: Sample) -> str:
    if found.size_bytes != expected.size_bytes:
        return f"{found.size_bytes:,} bytes instead of {expected.size_bytes:,}"
    if found.mime != expected.mime:
        given = f"the type {found.mime}" if found.mime else "no type"
        return f"{given} instead of {expected.mime}"
    return "other content than was written"


def _sample_of(response: httpx.Response) -> Sample:
    """The sample of an answer, of which only the beginning is read."""
    beginning = next(response.iter_bytes(BEGINNING_BYTES), b"")
    length = response.headers.get("content-length", "")
    return Sample(
        size_bytes=int(length) if length.isdigit() else len(beginning),
        mime=response.headers.get("content-type", "").partition(";")[0].strip().lower(),
        beginning=beginning,
    )
