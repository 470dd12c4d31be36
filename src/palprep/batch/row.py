"""One person of a manifest: a line of a file, or a value that a script makes."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from palprep.batch.files import is_url, is_web
from palprep.batch.settings import Files, Settings, holds_controls
from palprep.storage.clouds import is_bucket
from palprep.values import Role

_MOST_BYTES = 200
"""Of a person's own name. File systems take 255, and pages add a suffix."""

_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
"""Names that Windows keeps for devices, whatever their suffix (Microsoft, Naming Files)."""


def _text(value: Any) -> Any:
    """A number as text: tables hold the numbers of employees as numbers."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if whole else value


_NO_FOLDER_NAMES: tuple[tuple[Callable[[str], object], str], ...] = (
    (
        holds_controls,
        "must not hold line breaks or control characters",
    ),
    (lambda slug: {"/", "\\"} & set(slug), "must not hold a slash: a folder will have this name"),
    (
        lambda slug: slug.startswith((".", "__")),
        "must not start with a dot or two underscores",
    ),
    (
        lambda slug: slug != slug.strip() or slug.endswith("."),
        "must not start or end with a space, nor end with a dot",
    ),
    (_DEVICES.fullmatch, "must be another one: Windows keeps it for a device"),
    (lambda slug: len(slug.encode()) > _MOST_BYTES, f"must have at most {_MOST_BYTES} bytes"),
)


def why_no_folder_name(slug: str) -> str | None:
    """Why a person's own name cannot be that of a folder, here or on another machine; None when it
    can.
    """
    return next((why for is_so, why in _NO_FOLDER_NAMES if is_so(slug)), None)


def _folder_name(slug: str) -> str:
    why = why_no_folder_name(slug)
    if why is not None:
        raise PydanticCustomError("slug", "{why}", {"why": why})
    return slug


def _place(text: str) -> str:
    """Refuse what is neither a path nor the URL of a file that can be fetched."""
    if "\0" in text or "\n" in text or "\r" in text:
        raise PydanticCustomError("place", "must not hold line breaks or control characters")
    if not is_url(text):
        return text
    if is_bucket(text):
        named = text.partition("://")[2].strip("/").count("/") > 0 and not text.endswith("/")
        if not named:
            raise PydanticCustomError("place", "names a bucket and no file in it")
        return text
    if not is_web(text):
        raise PydanticCustomError(
            "place",
            "must be a path, or a URL that starts with https://, s3://, gs:// or az:// "
            "(http:// on this machine alone)",
        )
    return text


def _object(value: Any) -> Any:
    """An object that stands in one cell of a table."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise PydanticCustomError("object", "must be a JSON object, such as {{}}") from None


Slug = Annotated[str, BeforeValidator(_text), Field(min_length=1), AfterValidator(_folder_name)]
Place = Annotated[str, Field(min_length=1), AfterValidator(_place)]


class ManifestRow(Settings, Files):
    """One person of a manifest: who it is, the files, and the settings that a person.toml has.

    A file is a path, from where the manifest lies, or a URL: ``https://``, ``s3://``, ``gs://`` or
    ``az://``. In Python, roles are written with an underscore and paths lead from the folder that
    the process works in.
    """

    person: Slug
    """The person's own name in the journal, in the results and in the output folder: unlike every
    other person's, and the same in every run."""
    face_image: Place | None = Field(None, alias="face-image")
    """An image of the person."""
    training_video: Place | None = Field(None, alias="training-video")
    """The video that the replica is trained from."""
    consent_video: Place | None = Field(None, alias="consent-video")
    """A video of the statement of consent, where the training video does not open with it."""
    voice_audio: Place | None = Field(None, alias="voice-audio")
    """A recording, or a video whose sound is taken. Without it the training video's sound is."""

    properties: Annotated[Mapping[str, Any] | None, BeforeValidator(_object)] = None
    """The replica's ``properties``, as the service takes them. A table holds them as JSON."""

    @property
    def places(self) -> dict[Role, str]:
        """Where the file of each role is."""
        found = {role: self.of(role) for role in Role}
        return {role: place for role, place in found.items() if place is not None}


def identity(slug: str) -> str:
    """What a person's own name is to a file system that takes many names for one."""
    return unicodedata.normalize("NFC", slug).casefold()


COLUMNS = ("person", *(role.value for role in Role), *Settings.model_fields)
"""The columns of a manifest, as they are written."""
