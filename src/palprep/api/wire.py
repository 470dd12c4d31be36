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

A reply is a frozen pydantic model that is read leniently: a service may add members and values,
or leave some out, without breaking anyone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, ClassVar, Final, Literal, Self

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
    """Base of all requests, with the options that every call takes.

    ``timeout`` in seconds replaces the client's for this call, ``deadline`` its total one.
    ``validate=False`` sends the request as it stands: no rule of the specification is checked,
    and members that the specification does not know are sent too. ``extra_headers`` and
    ``extra_query`` travel besides what the specification shows.
    """

    timeout: Annotated[float | Unset | None, AboutTheCall()] = UNSET
    validate: Annotated[bool, AboutTheCall()] = True
    deadline: Annotated[float | Unset | None, AboutTheCall()] = UNSET
    extra_headers: Annotated[Mapping[str, str] | Unset, AboutTheCall()] = UNSET
    extra_query: Annotated[Mapping[str, str] | Unset, AboutTheCall()] = UNSET

    json_schema: ClassVar[Mapping[str, Any]] = {}
    """What JSON Schema can say of the rules between members."""

    def problems(self, settings: AccountSettings) -> Iterable[Problem]:
        """Broken rules that concern several fields at once; each field is valid by itself."""
        del settings
        return ()


REQUEST_ID_HEADERS = ("x-request-id", "request-id", "x-amzn-requestid")
"""Under which services tell the id of a request, best known first."""


_HEADERS = "response headers"


class Reply(Value):
    """Base of all records that the service returns.

    A record is read leniently (:func:`~palprep.api.reading.read_leniently`): a member that the
    specification does not know is kept as an attribute, a value that is not of its type as it
    came, and a null or missing member stands at its default, or at None where it has none.
    """

    model_config = ConfigDict(extra="allow")

    id_member: ClassVar[str | None] = None
    """The member that holds the resource's own id, where the record is one resource."""

    @property
    def response_headers(self) -> Mapping[str, str]:
        """The reply's headers, with lower-case names; empty for a record inside another."""
        found: Mapping[str, str] = self.__dict__.get(_HEADERS, {})
        return found

    @property
    def request_id(self) -> str | None:
        """The service's name for the request, None when it tells none."""
        return request_id(self.response_headers)

    def to_wire(self) -> dict[str, Any]:
        """The members that were given, as JSON; those left at their default stay absent."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)

    def to_json(self) -> dict[str, Any]:
        """All members as JSON."""
        return self.model_dump(mode="json", warnings=False)

    def with_headers(self, headers: Mapping[str, str]) -> Self:
        """This record, which came with ``headers``; their names are in lower case."""
        # Beside the fields, as pydantic keeps cached properties: no part of what is compared,
        # shown or sent, and copied and pickled with the rest.
        self.__dict__[_HEADERS] = headers
        return self


def request_id(headers: Mapping[str, str]) -> str | None:
    """The id of a request in the headers of its answer, whose names are in lower case."""
    return next((headers[name] for name in REQUEST_ID_HEADERS if name in headers), None)


class Unspecified(Reply):
    """A reply whose shape the specification does not show.

    ``body`` is the parsed JSON, the text when it was no JSON, or None when it was empty.
    """

    body: Any = None

    def to_wire(self) -> Any:
        """The body as it stands."""
        return self.body
