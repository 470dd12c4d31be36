"""Every error that palprep raises, in one tree.

Errors can be pickled, to cross from one process to another. None holds a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple


class PalprepError(Exception):
    """Base of all errors. Catch it to catch all of them. ``str(error)`` says what happened and what
    to do.

    ``code`` is a stable name for programs. Reports and JSON carry it.
    """

    code: ClassVar[str] = "palprep_error"

    def __init_subclass__(cls, code: str = "", **others: Any) -> None:
        super().__init_subclass__(**others)
        cls.code = code or cls.code

    def __init__(self, message: str, **context: Any) -> None:
        super().__init__(message)
        self.message = message
        self.__dict__.update(context)


class UsageError(PalprepError, code="usage"):
    """The call or the command line makes no sense. Correct the argument that the message names."""


class ProfileError(UsageError, code="profile_invalid"):
    """A profile that cannot be read, extends an unknown one, or names an unknown rule. Correct the
    line of the profile that the message names; `palprep explain` lists all rules."""


class RowProblem(NamedTuple):
    """One mistake in a manifest. ``line`` counts from 1; in Parquet it is the row. ``column`` is
    None for the whole line. ``message`` is a sentence that names neither."""

    line: int
    column: str | None
    message: str


class ManifestError(UsageError, code="manifest_invalid"):
    """A manifest with mistakes, all in ``problems``. Correct every line that the message names."""

    problems: tuple[RowProblem, ...] = ()


class ConsentUnproven(UsageError, code="consent_unproven"):
    """No replica is made, because consent is not proven. ``doubts`` are sentences, which a person
    may accept with `palprep.decide`. When there are none, record the statement again."""

    doubts: tuple[str, ...] = ()


class MediaError(PalprepError, code="media_unusable"):
    """A file that cannot be used. ``check`` turns it into a failed report and does not raise it.
    Read the message: it says what is wrong with the file. Give another one."""


class FileMissing(MediaError, code="file_missing"):
    """No such file, or a directory instead of a file. Check the path, and name a file."""


class FileUnreadable(MediaError, code="file_unreadable"):
    """The operating system refuses to read the file. Check the permissions. Wait until nothing
    writes to the file any more."""


class UnsupportedMedia(MediaError, code="media_unsupported"):
    """The format of the file is known, and the service does not accept it. Give a file of a format
    that the message names, or export it again."""


class DamagedMedia(MediaError, code="media_damaged"):
    """The file starts like an accepted format, and cannot be decoded. Copy the file again from
    where it came, or record it again."""


class MediaTooHeavy(MediaError, code="media_too_heavy"):
    """The file takes more time or memory than the limits allow. Give a shorter or smaller file, or
    higher limits."""


class ToolError(PalprepError, code="tool_error"):
    """Something that palprep needs on this machine is missing or broken. Run `palprep doctor`: it
    names what is missing and the command that helps."""


class ToolMissing(ToolError, code="tool_missing"):
    """A binary, a package or a model is not installed. Run the command that the message names."""


class ToolFailed(ToolError, code="tool_failed"):
    """ffmpeg or a worker process ran and gave up. The message holds its last words. Try again:
    memory or time may have run out."""


class NoWorkers(ToolError, code="no_workers"):
    """This machine starts no worker process: memory or processes have run out. Do what the message
    says, and run the same command again."""


class ClusterFailed(ToolError, code="cluster_failed"):
    """A cluster does no work any more: its scheduler is gone, it has no workers, or none of them
    can do the work. See to what the message names, and run the same command again."""


class FixError(PalprepError, code="fix_impossible"):
    """A fix that cannot be made. Record or export the file again, so that it needs no such fix."""


class CannotFit(FixError, code="cannot_fit"):
    """No quality and no size gets the file below the limit. Cut the file, or give a smaller one."""


class OutputUnwritable(FixError, code="output_unwritable"):
    """The output cannot be written: the disk is full (``disk_full`` is True), or the folder is
    read-only. Free some space, or choose another folder."""

    disk_full: bool = False


class StorageError(PalprepError, code="storage_failed"):
    """A bucket that cannot be read or written, or a file in it. The message says why: credentials,
    the name, the address, or the network. Correct what it names."""


class PublishError(PalprepError, code="publish_failed"):
    """A prepared file could not be put where the service can fetch it. Check the bucket, the
    credentials and the network, and publish again."""


class JournalError(PalprepError, code="journal_unusable"):
    """The journal is missing, damaged, or in use by another run. Name the output folder of a run,
    wait for the other run, or choose another folder. ``disk_full`` is True where the disk is full,
    or fails: free some space, and run the same command again."""

    disk_full: bool = False


class JournalBusy(JournalError, code="journal_busy"):
    """Another run is using the journal. Wait for it to end, or interrupt it; then run the same
    command again."""


class CreationUnrecorded(JournalError, code="creation_unrecorded"):
    """A voice or replica was created, and its id could not be recorded: the message holds it, and
    nothing else does. Keep the message, make the journal writable again, and run the command in it.
    """


class DossierUnusable(JournalError, code="dossier_unusable"):
    """A consent dossier that was changed, or is of another version. Do what the message says."""


class Problem(NamedTuple):
    """One rule of the specification that a request breaks.

    ``field`` is a path such as ``delivery.api.url``, or empty for the body as a whole. ``rule`` is
    a stable name such as ``https_required``. ``message`` is a sentence without the path.
    """

    field: str
    rule: str
    message: str


class InvalidRequest(PalprepError, code="invalid_request"):
    """A request breaks rules of the specification. Nothing was sent. Correct the field that the
    message names, and send the request again.

    ``problems`` holds every broken rule. ``field`` is the path of the first one, as the
    service's own errors name it. It is None when the rule is about the request as a whole.
    """

    field: str | None = None
    problems: tuple[Problem, ...] = ()


class ApiError(PalprepError, code="service_refused"):
    """The service answered with an error. Read the service's own words in the message.

    ``status`` is the HTTP status. ``shape`` is the shape of the body: ``"error"``, ``"message"``,
    ``"message-error-code"``, or None for another one. ``service_code`` is the body's ``code``.
    ``body`` is the parsed body or its text. ``request_id`` is a response header. Each is None
    when the service did not send it. ``headers`` are all of the response's, with lower-case names.
    ``call`` is what was sent: method, path, and body without secrets. ``words`` are the status and
    the service's own words, as the message has them.
    """

    status: int
    words: str = ""
    shape: str | None = None
    service_code: str | None = None
    body: Any = None
    request_id: str | None = None
    retry_after: float | None = None
    headers: Mapping[str, str] = MappingProxyType({})
    call: dict[str, Any] | None = None


class BadRequest(ApiError):
    """400 or 422: the service rejects the request's content. Correct what the message names."""


class AuthenticationError(ApiError):
    """401: missing or wrong key. Check the key, and that it is for this address."""


class PermissionDenied(ApiError):
    """403: the key may not do this. Use one that may: only a user-scoped key creates a voice."""


class NotFound(ApiError):
    """404. Check the id, and that it belongs to this account."""


class Conflict(ApiError):
    """409, or 412 when ``If-Match`` did not match. Read the resource again, and repeat the change
    on what you find."""


class PayloadTooLarge(ApiError):
    """413. The request, or the file at a URL in it, is larger than the service, or a proxy before
    it, takes. Give a smaller file: `prepare` only keeps to the limits of the profile."""


class RateLimited(ApiError):
    """429. ``retry_after`` is in seconds, or None when the service did not say it. Wait for
    ``retry_after`` seconds. The client has waited and repeated already."""


class ServiceUnavailable(ApiError):
    """Any 5xx. Try again later. The client has repeated what is safe to repeat."""


class UnexpectedReply(PalprepError, code="unexpected_reply"):
    """A success whose body is not of the specified shape. ``body`` holds it. Look at ``body``:
    another version of the service, or a proxy, may have answered.

    ``call`` is what was sent: method, path, and body without secrets. ``request_id`` is a response
    header. Each is None where it is not known. After a create (``carried_out``) the resource
    exists, and only its id is unknown: look it up on the service before you send the call again.
    """

    body: Any = None
    call: dict[str, Any] | None = None
    request_id: str | None = None
    carried_out: bool = False


class TransportError(PalprepError, code="service_unreachable"):
    """No answer came. Check the address and the network."""


class ServiceUnreachable(TransportError):
    """The request was not carried out. Check the address and the service, and send it again."""


class TimedOut(TransportError, code="timed_out"):
    """No answer in time to a request that is safe to repeat. Send it again; give it more time."""


class OutcomeUnknown(TransportError, code="outcome_unknown"):
    """A create was sent, and no answer told its outcome: the resource may or may not exist. Look
    for the resource before you send the call again. palprep never repeats it by itself.

    ``reason`` is the message without its advice; None when the message has no advice. ``call`` is
    what was sent: method, path, and body without secrets. ``status``, ``body`` and ``request_id``
    belong to an answer that leaves the outcome open, such as a gateway's 502.
    """

    reason: str | None = None
    call: dict[str, Any]
    status: int | None = None
    body: Any = None
    request_id: str | None = None


class WaitTimeout(PalprepError, code="wait_timeout"):
    """The resource was not ready before the deadline. ``last`` is its last known state. Make the
    same call again: with a journal it goes on waiting."""

    last: Any = None


AT_SERVICE = (
    *(ApiError, TransportError, UnexpectedReply, WaitTimeout),
    *(StorageError, PublishError, ClusterFailed),
)
"""Failures of the service, a bucket or a cluster, or on the way there, and not of a file."""
