"""What a person's ``person.toml`` may say, read with care: the file comes from anywhere."""

from __future__ import annotations

import os
import tomllib
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import Annotated, Any

from pydantic import AfterValidator, AliasGenerator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from palprep.api.fields import ShortLink, Tag, VoiceDescription
from palprep.errors import MediaError, UsageError
from palprep.media.source import Source
from palprep.rules.profile import BUILT_IN
from palprep.values import Role, Value

SETTINGS_NAME = "person.toml"

MAX_BYTES = 65_536
"""Of a person.toml. All settings at their longest take less."""


def _spoken_of(name: str) -> str:
    if not name.isprintable():
        raise PydanticCustomError("control", "must not hold line breaks or control characters")
    return name


def _known_model(model: str) -> str:
    if model not in BUILT_IN:
        raise PydanticCustomError(
            "model",
            "must be one of {known}; for another model, run with a profile of your own that "
            "names it",
            {"known": ", ".join(BUILT_IN)},
        )
    return model


Name = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_spoken_of)]


class Files(Value):
    """Names of files in the person's folder, where the names alone do not tell."""

    model_config = ConfigDict(
        alias_generator=AliasGenerator(validation_alias=lambda name: name.replace("_", "-"))
    )

    face_image: str | None = None
    training_video: str | None = None
    consent_video: str | None = None
    voice_audio: str | None = None


class Settings(Value):
    """What a ``person.toml`` may say. Limits are those of the specification."""

    name: Name | None = None
    """The replica's name; by default the folder's."""
    full_name: Name | None = None
    """As spoken in the consent statement; by default ``name``."""
    voice_name: Name | None = None
    """The voice's name, by default ``name``. For a replica from an image it is the slug of
    the stock voice, unless ``stock_voice`` says that."""
    stock_voice: Name | None = None
    description: VoiceDescription | None = None
    tags: tuple[Annotated[Tag, Field(min_length=1)], ...] = Field((), max_length=50)
    model: Annotated[str, AfterValidator(_known_model)] | None = None
    callback_url: ShortLink | None = None
    """The service tells this address of the outcome. The run does not wait for the replica then."""
    statement: str | None = None
    """A text or TOML file in the folder with the consent statement that your service demands."""
    language: str = "en"
    """Of the statement, ISO 639-1."""
    split_consent: bool = False
    """Make a consent video of the statement that opens the training video."""
    files: Files = Files()


def read_settings(folder: Path) -> Settings:
    """The folder's person.toml, or the defaults. Raises UsageError that says what to change."""
    path = folder / SETTINGS_NAME
    if not os.path.lexists(path):
        return Settings()
    data = _parsed(path)
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        if first["type"] != "extra_forbidden":
            raise UsageError(f"{SETTINGS_NAME}: {where}: {first['msg']}") from None
        known = [role.value for role in Role] if "." in where else sorted(Settings.model_fields)
        close = get_close_matches(where.rpartition(".")[2], known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
        raise UsageError(f"{SETTINGS_NAME}: there is no setting {where}; {hint}") from None


def file_in(folder: Path, name: str) -> Path | None:
    """The file of that name in the folder or below it; None for a name that leads out of it."""
    pure = PurePath(name)
    leads_out = pure.is_absolute() or ".." in pure.parts or "\0" in name
    return None if leads_out else folder / pure


def _parsed(path: Path) -> dict[str, Any]:
    try:
        # A pipe or a device under this name is refused before it is opened.
        with Source.of(path).open() as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise UsageError(f"{SETTINGS_NAME} is larger than {MAX_BYTES:,} bytes: shorten it")
        # Editors on Windows put a byte order mark first.
        return tomllib.loads(raw.decode("utf-8-sig"))
    except MediaError as error:
        raise UsageError(f"{SETTINGS_NAME} cannot be read: {error.message}") from None
    except RecursionError:
        raise UsageError(f"{SETTINGS_NAME} cannot be read: it is nested too deeply") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{SETTINGS_NAME} cannot be read: {error}") from None
