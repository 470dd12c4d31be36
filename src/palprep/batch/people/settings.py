"""A person's settings, and the ``person.toml`` that holds them, which anybody may have written."""

from __future__ import annotations

import os
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AliasGenerator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetPydanticSchema,
    ValidationError,
)
from pydantic_core import ErrorDetails, PydanticCustomError, from_json, to_json

from palprep import system
from palprep.api.records import ShortLink, Tag, VoiceDescription
from palprep.errors import MediaError, UsageError
from palprep.media.sources import Source
from palprep.rules import BUILT_IN
from palprep.storage import atomic_output
from palprep.values import Many, Role, Value
from palprep.vocabulary import MOST_TEXT_BYTES, did_you_mean

SETTINGS_NAME = "person.toml"

_WRITTEN = 'save it as UTF-8, each setting once, as in stock_voice = "gloria", in straight quotes'
"""What to do about a file that is not TOML."""

_PLAIN = {
    "missing": "is missing",
    "bool_parsing": "must be true or false, or 1 or 0",
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "model_type": "must be a table, as in [files]",
    "string_type": "must be text in straight quotes",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length:,} characters",
    "string_unicode": "must be text in whole characters",
    "too_long": "must have at most {max_length:,} entries",
    "tuple_type": 'must be a list, as in ["one", "two"]',
}

_JOINERS = "\u200c\u200d"
"""Persian, scripts of India and emoji are spelt with them (Unicode Standard, section 23.2)."""


def holds_controls(name: str) -> bool:
    """Whether a name holds line breaks, control characters, or other characters that are never
    drawn and belong to no spelling."""
    return any(
        unicodedata.category(each) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
        for each in name
        if each not in _JOINERS
    )


def refused(why: str) -> PydanticCustomError:
    """The error of a validator, with exactly these words."""
    return PydanticCustomError("refused", "{why}", {"why": why})


def _without_controls(name: str) -> str:
    if holds_controls(name):
        raise refused("must not hold line breaks or control characters")
    return name


def _language_code(code: str) -> str:
    if not (len(code) == 2 and code.isascii() and code.islower()):
        raise refused("must be two letters, as in de (ISO 639-1)")
    return code


def _known_model(model: str) -> str:
    if model not in BUILT_IN:
        others = "for another model, run with a profile of your own that names it"
        raise refused(f"must be one of {', '.join(BUILT_IN)}; {others}")
    return model


def _in_a_request(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        to_json([[[[[[[[properties]]]]]]]])  # What is sent and kept holds them some levels deeper.
        from_json(to_json(properties), allow_inf_nan=False)
    except ValueError:
        raise refused(
            "must be JSON in whole characters, without NaN and Infinity, and not nested deeper "
            "than 200"
        ) from None
    return properties


Properties = Annotated[Mapping[str, Any], AfterValidator(_in_a_request)]

Name = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_without_controls)]


FileName = Annotated[
    str | os.PathLike[str],
    GetPydanticSchema(lambda _, schema: schema(Annotated[str, Field(min_length=1)])),
    BeforeValidator(lambda place: os.fspath(place) if isinstance(place, os.PathLike) else place),
]
"""Text. Programs may give a path."""


_ROLES = {role.value.replace("-", "_"): role for role in Role}


def _written(name: str) -> str:
    return _ROLES[name].value if name in _ROLES else name


class NamedFiles(Value):
    """A person's files by their roles, where names alone do not tell."""

    # Written with a hyphen, as everywhere: training-video. In Python with an underscore: type
    # checkers would take an ``alias`` for the name of the argument.
    model_config = ConfigDict(
        validate_by_name=True,
        alias_generator=AliasGenerator(validation_alias=_written, serialization_alias=_written),
    )

    face_image: FileName | None = None
    """An image of the person."""
    training_video: FileName | None = None
    """The video that the replica is trained from."""
    consent_video: FileName | None = None
    """A video of the statement of consent, where the training video does not open with it."""
    voice_audio: FileName | None = None
    """A recording, or a video whose sound is taken. Without it the training video's sound is."""

    @property
    def places(self) -> Mapping[Role, str]:
        found = {role: getattr(self, name) for name, role in _ROLES.items()}
        return {role: place for role, place in found.items() if place is not None}


class Settings(Value):
    """The settings of a person, the same in a ``person.toml`` and in a manifest. Their limits are
    those of the specification."""

    name: Name | None = None
    """The replica's name; by default that of the folder, or of the person in the manifest."""
    full_name: Name | None = None
    """As it must be said in the consent statement; by default ``name``."""
    spoken_as: Name | None = None
    """How the full name sounds, in Latin letters, where its own letters do not say it."""
    voice_name: Name | None = None
    """The name of the voice that is made of the recording; by default ``name``."""
    stock_voice: Name | None = None
    """The slug of the stock voice that a replica from an image speaks with."""
    description: VoiceDescription | None = None
    """The description of the voice."""
    tags: Annotated[Many[Annotated[Tag, Field(min_length=1)]], Field(max_length=50)] = ()
    """The tags of the voice."""
    model: Annotated[str, AfterValidator(_known_model)] | None = None
    """The replica's model, and with it the limits that the files are held against."""
    callback_url: ShortLink | None = None
    """The service sends the outcome to this address. The run does not wait for the replica then."""
    auto_fix_training_image: bool | None = None
    """Whether the service may fix the image that it trains a replica from."""
    properties: Properties | None = None
    """The replica's ``properties``, as the service takes them."""
    statement: FileName | None = None
    """A text file with the consent statement that your service demands."""
    language: Annotated[str, AfterValidator(_language_code)] = "en"
    """The language of messages to the person, and of their own ``statement`` (ISO 639-1)."""
    split_consent: bool = False
    """Make a consent video of the statement that opens the training video."""
    without_consent: bool = False
    """Train from the video even where no consent was heard. That is recorded."""


class SettingsFile(Settings):
    """The content of a ``person.toml``."""

    files: NamedFiles = NamedFiles()


def read_settings(folder: Path) -> SettingsFile:
    """The folder's person.toml, or the defaults. Raises UsageError that says what to change."""
    path = folder / SETTINGS_NAME
    if not os.path.lexists(path):
        return SettingsFile()
    try:
        # A pipe or a device under this name is refused before it is opened.
        with Source.of(path).open() as file:
            raw = file.read(MOST_TEXT_BYTES + 1)
    except (MediaError, OSError) as error:
        raise UsageError(f"{SETTINGS_NAME} cannot be read: {error}") from None
    return parse_settings(raw)


def parse_settings(raw: bytes) -> SettingsFile:
    """The settings in the bytes of a person.toml. Raises UsageError that says what to change, with
    a line for each mistake."""
    if len(raw) > MOST_TEXT_BYTES:
        raise UsageError(f"{SETTINGS_NAME} is larger than {MOST_TEXT_BYTES:,} bytes: shorten it")
    try:
        # Editors on Windows put a byte order mark first.
        return SettingsFile.model_validate(tomllib.loads(raw.decode("utf-8-sig")))
    except ValidationError as error:
        mistakes = (f"{SETTINGS_NAME}: {_mistake(each)}" for each in error.errors())
        raise UsageError("\n".join(mistakes)) from None
    except RecursionError:
        raise UsageError(f"{SETTINGS_NAME} cannot be read: it is nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"{SETTINGS_NAME} cannot be read: {error}; {_WRITTEN}") from None


def _mistake(error: ErrorDetails) -> str:
    where = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden" and error["loc"][-1] in Settings.model_fields:
        return f"write {error['loc'][-1]} above [{error['loc'][0]}]"
    known = [role.value for role in Role] if "." in where else sorted(SettingsFile.model_fields)
    if error["type"] == "extra_forbidden":
        return unknown_words(where, known, what="setting")
    return f"{where}: {plain_words(error)}"


def plain_words(error: ErrorDetails) -> str:
    """What is wrong with a value. Where pydantic's words are for programmers, plainer ones."""
    return _PLAIN.get(error["type"], "{msg}").format(msg=error["msg"], **error.get("ctx", {}))


def write_setting(folder: Path, name: str, value: str, *, table: str = "") -> None:
    """Set one text in the folder's person.toml, at the top or in a ``table``. All else stays,
    comments too, and what other processes set meanwhile. Raises OutputUnwritable; and UsageError
    without a folder, and for a file that cannot be read, or in which nothing can be set. The file
    is then unchanged."""
    import tomlkit  # noqa: PLC0415 -- takes a tenth of a second to load, and no run needs it

    if not folder.is_dir():
        raise UsageError(f"{folder} was removed or moved: put it back and try again")
    path = folder / SETTINGS_NAME
    with system.locked(folder, wait=True):  # Not the file, which is replaced.
        read_settings(folder)
        text = path.read_bytes().decode("utf-8-sig") if os.path.lexists(path) else ""
        try:
            written = tomlkit.parse(text)
            place: Any = written.setdefault(table, tomlkit.table()) if table else written
            place[name] = value
            new = tomlkit.dumps(written).encode()
        except (ValueError, RecursionError):  # It may be stricter than what reads settings.
            raise UsageError(f"{SETTINGS_NAME} cannot be changed: set {name} by hand") from None
        parse_settings(new)
        with atomic_output(path) as temporary:
            temporary.write_bytes(new)


def unknown_words(where: str, known: Sequence[str], *, what: str) -> str:
    """A sentence: there is no such setting or column; and which one may be meant."""
    hint = did_you_mean(where.rpartition(".")[2], known, f"known are {', '.join(known)}")
    return f"there is no {what} {where}; {hint}"


def leads_out(name: str) -> bool:
    """Whether a name leads out of the folder that it is meant for."""
    pure = PurePath(name)
    return pure.is_absolute() or ".." in pure.parts or "\0" in name
