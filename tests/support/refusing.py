"""A publisher that must not be asked."""

from __future__ import annotations

from palprep.errors import PublishError


class Refusing:
    """A publisher that tells when it is asked."""

    def publish(self, file, name=None):
        raise PublishError(f"asked to publish {file.path}")
