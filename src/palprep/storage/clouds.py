"""Which cloud a URL names, and which variables its credentials come from. Loads no library."""

from __future__ import annotations

from typing import NamedTuple


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
    allow_http: str
    timeout: str


S3 = Cloud(
    name="S3",
    container="bucket",
    schemes=("s3", "s3a"),
    example="s3://BUCKET/PREFIX",
    credentials="AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    besides="the role of a machine at AWS",
    allow_http="AWS_ALLOW_HTTP",
    timeout="AWS_TIMEOUT",
)
GOOGLE = Cloud(
    name="Google Cloud Storage",
    container="bucket",
    schemes=("gs",),
    example="gs://BUCKET/PREFIX",
    credentials="GOOGLE_SERVICE_ACCOUNT (the path of a service account's JSON key)",
    besides="the service account of a machine at Google",
    allow_http="GOOGLE_ALLOW_HTTP",
    timeout="GOOGLE_TIMEOUT",
)
AZURE = Cloud(
    name="Azure Blob Storage",
    container="container",
    schemes=("az", "azure", "abfs", "abfss", "adl"),
    example="az://CONTAINER/PREFIX",
    credentials="AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
    besides="the managed identity of a machine at Azure",
    allow_http="AZURE_ALLOW_HTTP",
    timeout="AZURE_TIMEOUT",
)
CLOUDS = (S3, GOOGLE, AZURE)


def cloud_of(url: str) -> Cloud | None:
    """The cloud that a bucket's URL names by its scheme; None for anything else."""
    scheme, separator, _ = url.partition("://")
    if not separator:
        return None
    return next((cloud for cloud in CLOUDS if scheme.lower() in cloud.schemes), None)


def is_bucket(text: str) -> bool:
    """Whether it is the URL of a bucket, or of something in one."""
    return cloud_of(text) is not None
