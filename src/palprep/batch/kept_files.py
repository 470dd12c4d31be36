"""Where prepared files are: in the output folder, or in a bucket."""

from __future__ import annotations

import contextlib
import datetime as dt
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from palprep.batch.seen import Seen, folder_seen
from palprep.media.source import sha256_of
from palprep.preflight.prepared import Prepared
from palprep.publish.object_store import ObjectStorePublisher
from palprep.publish.publishers import Content, Publishable, Publisher

MAX_BYTES = 1 << 40
"""Of a file in a run's bucket: what was put there for the run has a size that is known already."""


def key_in_bucket(path: Path, sha256: str) -> str:
    """Under which key of a run's bucket a prepared file of this content lies."""
    return Content(path, sha256, path.name).stored_name()


class KeptFiles(Protocol):
    """The prepared files of a run."""

    def holds(self, prepared: Prepared) -> bool:
        """Whether the file is there, unchanged."""

    def seen(self, folder: Path, at: dt.datetime) -> Seen | None:
        """What can be seen of those in a folder of the output, ``at`` this time, without a look at
        their content; None where that tells no change.
        """

    def at_hand(self, prepared: Prepared) -> AbstractContextManager[None]:
        """The file lies at its path for as long as the block takes."""


class InFolder:
    """They lie where they were prepared."""

    def holds(self, prepared: Prepared) -> bool:
        """See :meth:`KeptFiles.holds`."""
        return prepared.path.is_file() and sha256_of(prepared.path) == prepared.sha256

    def seen(self, folder: Path, at: dt.datetime) -> Seen | None:
        """See :meth:`KeptFiles.seen`."""
        return folder_seen(folder, at)

    def at_hand(self, prepared: Prepared) -> AbstractContextManager[None]:
        """See :meth:`KeptFiles.at_hand`."""
        del prepared
        return contextlib.nullcontext()


class FromKept:
    """A publisher to which prepared files are brought when it needs them.

    What lies in the bucket that it publishes to is left there, and signed for.
    """

    def __init__(self, publisher: Publisher, files: KeptFiles) -> None:
        self._publisher = publisher
        self._files = files

    def publish(self, file: Publishable, name: str | None = None) -> str:
        """See :meth:`Publisher.publish`."""
        if not isinstance(file, Prepared):
            return self._publisher.publish(file, name)
        if isinstance(self._publisher, ObjectStorePublisher) and not file.path.is_file():
            link = self._publisher.link_to(file)
            if link is not None:
                return link
        with self._files.at_hand(file):
            return self._publisher.publish(file, name)
