"""Which publisher serves which service."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from palprep.errors import UsageError
from palprep.publish.object_store import ObjectStorePublisher
from palprep.publish.publishers import SandboxPublisher


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
    if is_loopback(base_url):
        return SandboxPublisher(base_url)
    raise UsageError(
        f"{base_url} fetches media by URL. Name a bucket that it can read, with --publish-to or in "
        "PALPREP_PUBLISH_TO: s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX"
    )


def publisher_from_env(
    environ: Mapping[str, str] | None = None,
) -> SandboxPublisher | ObjectStorePublisher:
    """A publisher for the service at PALPREP_BASE_URL, into the bucket in PALPREP_PUBLISH_TO.

    A sandbox on this machine needs no bucket. ``environ`` replaces the process's environment.
    Raises UsageError where something is not set.
    """
    found = os.environ if environ is None else environ
    base_url = found.get("PALPREP_BASE_URL", "").strip()
    if not base_url:
        raise UsageError(
            "PALPREP_BASE_URL is not set. Set it to the service's URL, or to the one that "
            "`palprep sandbox` prints."
        )
    return publisher_for(base_url, found.get("PALPREP_PUBLISH_TO", "").strip() or None)


def is_loopback(base_url: str) -> bool:
    """Whether this machine alone is behind an address."""
    host = urlsplit(base_url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
