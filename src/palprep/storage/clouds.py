"""Which cloud a URL names, where its credentials come from, and what its failures are called.

Loads no library. obstore has few classes of failures. Their text holds the answer
of the cloud, whose codes are documented, or the reason why there was no connection.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from palprep.errors import StorageError

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>\s*(\w+)\s*</Code>|\"(?:reason|error)\"\s*:\s*\"(\w+)\"")
_HOST = re.compile(r"performing \w+ (https?://[^/\s]+)")


class Cloud(NamedTuple):
    """One cloud's words. The variables are those that obstore reads."""

    name: str
    container: str
    """What the cloud calls a bucket."""
    schemes: tuple[str, ...]
    example: str
    credentials: str
    """The variables of a long-lived key."""
    besides: str
    """Where credentials come from on a machine of the cloud."""
    variables: str
    """How the names of its variables begin."""


S3 = Cloud(
    name="S3",
    container="bucket",
    schemes=("s3", "s3a"),
    example="s3://BUCKET/PREFIX",
    credentials="AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    besides="the role of a machine at AWS",
    variables="AWS",
)
GOOGLE = Cloud(
    name="Google Cloud Storage",
    container="bucket",
    schemes=("gs",),
    example="gs://BUCKET/PREFIX",
    credentials="GOOGLE_SERVICE_ACCOUNT (the path of a service account's JSON key)",
    besides="the service account of a machine at Google",
    variables="GOOGLE",
)
AZURE = Cloud(
    name="Azure Blob Storage",
    container="container",
    schemes=("az", "azure", "abfs", "abfss", "adl"),
    example="az://CONTAINER/PREFIX",
    credentials="AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
    besides="the managed identity of a machine at Azure",
    variables="AZURE",
)
CLOUDS = (S3, GOOGLE, AZURE)


def cloud_of(url: str) -> Cloud | None:
    """The cloud that a bucket's URL names by its scheme; None for anything else."""
    scheme, separator, _ = url.partition("://")
    found = (cloud for cloud in CLOUDS if separator and scheme.lower() in cloud.schemes)
    return next(found, None)


def is_bucket(text: str) -> bool:
    """Whether it is the URL of a bucket, or of something in one."""
    return cloud_of(text) is not None


_NO_BUCKET = "there is no such {cloud.container}. Make it, or correct the name"
_NO_FILE = "there is no such file"
_ELSEWHERE = "the bucket is in another region. Set AWS_REGION to the bucket's region"
_NOT_ACCEPTED = "the credentials are not accepted ({said}). Check {cloud.credentials}"

_HERE = (
    # obstore asks the machine for a role where no credentials are named.
    (
        ("169.254.169.254", "metadata.google.internal", "MissingSecretAccessKey", "MissingAccount",
         "MissingAccessKeyId", "MissingToken", "MissingCredentials"),
        "there are no credentials. Set {cloud.credentials}; {cloud.besides} works, too",
    ),
    (
        ("GCP credential error", "service account file", "Invalid Access Key", "private key"),
        "the credentials cannot be read ({line}). Check {cloud.credentials}",
    ),
    (
        ("Config error: failed to parse",),
        ("one of its settings cannot be read ({line}). Check {cloud.variables}_ALLOW_HTTP, which "
        "is true or false, and {cloud.variables}_TIMEOUT, such as 120s"),
    ),
    (("incorrectly configured region",), _ELSEWHERE),
    (
        ("BadScheme",),
        ("{host} is not https. If that is what you want, set {cloud.variables}_ALLOW_HTTP=true; "
        "the files then travel unencrypted"),
    ),
    (
        ("InvalidContentType", "invalid peer certificate"),
        "there is no safe connection to {host}. Check its certificate and its address",
    ),
    (
        ("TimedOut", "operation timed out"),
        ("{host} is too slow to answer. Allow it more time in {cloud.variables}_TIMEOUT, such as "
        "120s"),
    ),
    (
        ("invalid path", "parse path"),
        ("a name in it cannot be read ({line}). Rename that object: no control characters, no "
        "folder without a name or named . or .."),
    ),
    (("dns error",), "{host} is not known here. Check the name and the network"),
    (("kind: Connect",), "{host} does not answer. Check its address and the network"),
)  # fmt: skip
"""Signs in obstore's text where the cloud gave no answer, and what to tell the user."""

_CODES = (
    (
        {"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "invalid_grant"},
        ("its credentials have expired. Get new ones, or use a long-lived key: set "
        "{cloud.credentials}"),
    ),
    ({"NoSuchBucket", "ContainerNotFound", "ContainerBeingDeleted"}, _NO_BUCKET),
    ({"NoSuchKey", "BlobNotFound"}, _NO_FILE),
    (
        {"RequestTimeTooSkewed", "RequestExpired"},
        "this machine's clock is wrong, and signatures hold the time. Set the clock",
    ),
    ({"PermanentRedirect", "AuthorizationHeaderMalformed"}, _ELSEWHERE),
    (
        {"InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "AuthenticationFailed",
         "AuthorizationFailure", "InvalidAuthenticationInfo", "InvalidSecurity"},
        _NOT_ACCEPTED,
    ),
)  # fmt: skip
"""Codes of the clouds' answers: S3's and Google's XML API, Azure's Blob service."""

_STATUSES = (
    ("401", _NOT_ACCEPTED),
    (
        "403",
        "the credentials are known and lack the right for this ({said}). Let them read and write",
    ),
    ("404", _NO_FILE),
    ("5", "{host} answers with status {status}, again and again. Try again later"),
    ("", "{host} answers with {said}. Check that it speaks the protocol of {cloud.name}"),
)
"""By how the status begins, for all other codes."""


def bucket_error(error: BaseException, where: str, cloud: Cloud) -> StorageError:
    """A failed call of obstore about ``where``, in words that say what to do. Holds no secret."""
    text = str(error)
    status, code = _first(_STATUS, text), _first(_CODE, text)
    # obstore appends the whole debug representation of the Rust error, and with it
    # request headers, on further lines.
    line = next(iter(text.splitlines()), type(error).__name__)[:300]
    words = _sentence(text, status, code) or "{line}"
    host = _first(_HOST, text) or "the server"
    reason = words.format(cloud=cloud, host=host, line=line, status=status, said=code or status)
    return StorageError(f"{where} cannot be used: {reason}")


def _sentence(text: str, status: str | None, code: str | None) -> str | None:
    for signs, words in _HERE:
        if any(sign in text for sign in signs):
            return words
    if status is None:
        return None
    for codes, words in _CODES:
        if code in codes:
            return words
    if status == "404" and "performing PUT" in text:
        return _NO_BUCKET  # Google gives no code.
    return next(words for beginning, words in _STATUSES if status.startswith(beginning))


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return next((group for group in match.groups() if group), None) if match else None
