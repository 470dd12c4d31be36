"""A URL names its cloud by its scheme."""

from __future__ import annotations

import pytest

from palprep.storage.clouds import AZURE, GOOGLE, S3, cloud_of, is_bucket


@pytest.mark.parametrize(
    ("url", "cloud"),
    [
        ("s3://media", S3),
        ("S3://media/x", S3),
        ("gs://media", GOOGLE),
        ("az://media/x", AZURE),
        ("abfss://media@account.dfs.core.windows.net/x", AZURE),
        ("https://example.com/x", None),
        ("people", None),
        ("C:\\people", None),
        ("s3:/media", None),
    ],
)
def test_a_scheme_names_a_cloud(url, cloud):
    assert cloud_of(url) is cloud
    assert is_bucket(url) is (cloud is not None)
