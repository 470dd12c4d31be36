"""The words that command lines, records, reports and errors share.

:mod:`palprep.values` offers the three enumerations, too. They stand here because that module loads
pydantic, and ``palprep COMMAND --help`` must not wait for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from enum import StrEnum
from pathlib import PurePath
from typing import IO, Final, Literal
from unicodedata import normalize

FileInput = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes]
"""A path, the file's bytes, or a binary file that is read from where it stands."""

RoleName = Literal["face-image", "training-video", "consent-video", "voice-audio"]
"""The roles by name, as type checkers know them. :class:`Role` has the same."""

DEFAULT_PROFILE: Final = "core-4"
"""The profile that judges when no other is named."""

MOST_TEXT_BYTES: Final = 65_536
"""Of a text file that belongs to a person: a person.toml, of which all settings at their longest
take less, and a statement. No more is read, since anybody may have written it."""


def install_advice(extra: str | None = None, *, again: bool = False) -> str:
    """Advice to install palprep, with an extra or ``again``. No index offers palprep: it is
    installed from a checkout."""
    what = f'".[{extra}]"' if extra else "."
    return f"run `pip install {'--force-reinstall ' if again else ''}{what}` in palprep's checkout"


def same_name(name: str) -> str:
    """A key that all spellings of one name share: upper or lower case, either form of Unicode."""
    return normalize("NFC", name).casefold()


def by_name(name: str) -> tuple[str, str]:
    """A sort key by which numbers in names count: ``person-2`` comes before ``person-10``. Case is
    ignored; it only orders the spellings of one name."""
    counted = re.sub("0*([0-9]+)", lambda found: f"{len(found[1]):03}{found[1]}", same_name(name))
    return counted, name


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """A hint for an unknown name: the ``known`` names that hold it as a word, or else the one that
    is spelt most like it; ``otherwise`` when there is neither."""
    from difflib import get_close_matches  # noqa: PLC0415 -- every process loads this module

    names = list(known)
    near = [each for each in names if name.lower() in re.split(r"[\W_]", each.lower())]
    near = near[:3] or get_close_matches(name, names, n=1)
    return f"did you mean {' or '.join(near)}?" if near else otherwise


def address_of(path: PurePath) -> str | None:
    """The URL that was given in place of a path, without its query; None for a path. pathlib joins
    slashes, so ``s3://bucket`` arrives as ``s3:/bucket``. One letter before the colon is a drive.
    """
    found = re.fullmatch(r"([a-z][a-z0-9+.-]+):/+([^?]*).*", path.as_posix())
    return f"{found[1]}://{found[2]}" if found else None


class Kind(StrEnum):
    """What a file holds."""

    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"
    OTHER = "other"


class Role(StrEnum):
    """What a file is for. The values are the names used on the command line."""

    FACE_IMAGE = "face-image"
    TRAINING_VIDEO = "training-video"
    CONSENT_VIDEO = "consent-video"
    VOICE_AUDIO = "voice-audio"


class Outcome(StrEnum):
    """How a check or a whole report came out. ``UNKNOWN`` means that it was not measured."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"

    @property
    def passed(self) -> bool | None:
        """True for pass and warn, False for fail, None for unknown."""
        return {Outcome.PASS: True, Outcome.WARN: True, Outcome.FAIL: False}.get(self)
