"""The words in which requests and replies are declared.

A request is a frozen dataclass. Each field says in its annotation where it travels: in the
path, in the query, in a header, as the whole body, or, without a marker, as a member of
the JSON body. A field left at :data:`UNSET` does not travel at all, which is how a PATCH
tells an absent member from ``null``::

    @dataclass(frozen=True)
    class UpdateVoice(Request):
        voice_id: Annotated[str, InPath()]
        _: KW_ONLY
        description: str | None | Unset = UNSET

A reply is a frozen pydantic model that ignores members it does not know, so that the
service may add some without breaking anyone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Final, Literal, Self

from pydantic import ConfigDict

from palprep.errors import Problem
from palprep.values import Value


class Unset(Enum):
    """The type of :data:`UNSET`."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> Literal[False]:
        return False


UNSET: Final = Unset.UNSET
"""A member that is not sent at all."""


@dataclass(frozen=True)
class InPath:
    """Travels in the path, percent-encoded; never empty."""


@dataclass(frozen=True)
class InQuery:
    """Travels in the query under the field's name."""


@dataclass(frozen=True)
class InHeader:
    """Travels in the header ``name``."""

    name: str


@dataclass(frozen=True)
class WholeBody:
    """Is the JSON body itself."""


@dataclass(frozen=True)
class OtherMembers:
    """Is a mapping whose entries become members of the body, for a request whose members the
    specification leaves open."""


@dataclass(frozen=True)
class Named:
    """Travels as the member ``name``, which differs from the field's name."""

    name: str


@dataclass(frozen=True)
class Streamed:
    """Is the base64 of a file, and may be made while it is sent.

    The field takes base64 text or a :class:`~palprep.api.stream.Base64Stream`. Clients take the
    file itself instead, as the argument ``argument``. They fill the field ``type_field`` with
    the MIME type that the file's content shows, unless the caller gives one.
    """

    argument: str
    type_field: str


@dataclass(frozen=True)
class AboutTheCall:
    """Does not travel; it says how to send the call."""


class AccountSettings(Value):
    """What the specification leaves to the account or the deployment."""

    reserved_prefix: str | None = None
    """The service's own name; tool properties that start with it and an underscore are
    reserved. The specification does not spell the name out, so nothing is reserved until
    it is given."""
    loopback_webhooks: bool = False
    """Accept ``http://`` webhooks on loopback addresses, which only a local service can."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """Base of all requests, with the two options that every call takes.

    ``timeout`` in seconds replaces the client's for this call. ``validate=False`` sends the
    request as it stands: no rule of the specification is checked, and members that the
    specification does not know are sent too.
    """

    timeout: Annotated[float | Unset | None, AboutTheCall()] = UNSET
    validate: Annotated[bool, AboutTheCall()] = True

    def problems(self, settings: AccountSettings) -> Iterable[Problem]:
        """Broken rules that concern several fields at once; each field is valid by itself."""
        del settings
        return ()


class Reply(Value):
    """Base of all records that the service returns. Unknown members are ignored."""

    model_config = ConfigDict(extra="ignore")

    def to_wire(self) -> dict[str, Any]:
        """The members that were given, as JSON; those left at their default stay absent."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    def with_headers(self, headers: Mapping[str, str]) -> Self:
        """This record with what the reply's headers say; most say nothing."""
        del headers
        return self


class Unspecified(Reply):
    """A reply whose shape the specification does not show.

    ``body`` is the parsed JSON, the text when it was no JSON, or None when it was empty.
    """

    body: Any = None

    def to_wire(self) -> Any:
        """The body as it stands."""
        return self.body
