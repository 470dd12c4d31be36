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
    container="bucket",
    schemes=("s3", "s3a"),
    example="s3://BUCKET/PREFIX",
    credentials="AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    besides="the role of a machine at AWS",
    variables="AWS",
)
GOOGLE = Cloud(
    container="bucket",
    schemes=("gs",),
    example="gs://BUCKET/PREFIX",
    credentials="GOOGLE_SERVICE_ACCOUNT (the path of a service account's JSON key)",
    besides="the service account of a machine at Google",
    variables="GOOGLE",
)
AZURE = Cloud(
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


_MEANING = {
    # obstore asks the machine for a role where no credentials are named.
    r"169\.254\.169\.254|metadata\.google\.internal|Missing(Secret|Account|AccessKey|Token|Cred)": (
        "there are no credentials. Set {cloud.credentials}; {cloud.besides} works, too"
    ),
    r"GCP credential error|service account file|Invalid Access Key|private key": (
        "the credentials cannot be read ({line}). Check {cloud.credentials}"
    ),
    r"BadScheme": (
        "{host} is not https. If that is what you want, set {cloud.variables}_ALLOW_HTTP=true; the "
        "files then travel unencrypted"
    ),
    r"TimedOut|operation timed out": (
        "{host} is too slow to answer. Allow it more time in {cloud.variables}_TIMEOUT, such as "
        "120s"
    ),
    r"Config error: failed to parse": (
        "one of its settings cannot be read ({line}). Check {cloud.variables}_ALLOW_HTTP, which is "
        "true or false, and {cloud.variables}_TIMEOUT, such as 120s"
    ),
    # After the head of the answer obstore does not go on where the connection ended.
    r"body error": "the transfer was cut off. Try again",
    r"dns error|kind: Connect": "{host} does not answer. Check its address and the network",
    r"error sending request": (
        "{host} ends the connection without an answer. Try again later; if that does not help, "
        "check its address, and what stands before it"
    ),
    r"invalid path|parse path": "a name in it cannot be read ({line}). Rename that object",
    r"ExpiredToken|TokenRefreshRequired|invalid_grant": (
        "its credentials have expired. Get new ones, or use a long-lived key: {cloud.credentials}"
    ),
    r"RequestTimeTooSkewed|RequestExpired": "this machine's clock is wrong. Set the clock",
    r"configured region|PermanentRedirect|AuthorizationHeaderMalformed": (
        "the bucket is in another region. Set AWS_REGION to the bucket's region"
    ),
    r"Invalid(AccessKeyId|Token|AuthenticationInfo|Security)|SignatureDoesNotMatch"
    r"|AuthenticationFailed|AuthorizationFailure|code: 401": (
        "the credentials are not accepted ({said}). Check {cloud.credentials}"
    ),
    # Google gives no code.
    r"NoSuchBucket|Container(NotFound|BeingDeleted)|performing PUT .*code: 404": (
        "there is no such {cloud.container}. Make it, or correct the name"
    ),
    r"NoSuchKey|BlobNotFound|code: 404": "there is no such file",
    r"code: 403": (
        "the credentials are known and lack the right for this ({said}). Let them read and write"
    ),
    r"code: 5\d\d\b": "{host} answers with status {status}, again and again. Try again later",
    r"": "{line}. Check its address, and the variables that begin with {cloud.variables}_",
}
"""What to tell the user, by signs in obstore's text, codes of the clouds' answers among them (S3's
and Google's XML API, Azure's Blob service). The first that is there counts."""


def bucket_error(error: BaseException, where: str, cloud: Cloud) -> StorageError:
    """A failed call of obstore about ``where``, in words that say what to do. Holds no secret."""
    text = str(error)
    status, code = _first(_STATUS, text), _first(_CODE, text)
    # obstore appends the whole debug representation of the Rust error, and with it
    # request headers, on further lines.
    line = next(iter(text.splitlines()), type(error).__name__)[:300]
    words = next(words for signs, words in _MEANING.items() if re.search(signs, text))
    host = _first(_HOST, text) or "the server"
    reason = words.format(cloud=cloud, host=host, line=line, status=status, said=code or status)
    return StorageError(f"{where} cannot be used: {reason}")


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return next((group for group in match.groups() if group), None) if match else None
