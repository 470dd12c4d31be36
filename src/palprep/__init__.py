"""Media preflight and asset preparation for conversational video agents.

Names are loaded when they are first used, so that ``import palprep`` costs nothing and a
program that only talks to the service never loads a decoder.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from palprep._version import __version__

if TYPE_CHECKING:
    from palprep.batch.connection import Connection
    from palprep.batch.pace import Pace
    from palprep.batch.progress import Note, Progress
    from palprep.batch.row import ManifestRow
    from palprep.batch.runner import run
    from palprep.batch.selection import Selection, Shard
    from palprep.batch.watch_folder import watch
    from palprep.callbacks.server import CallbackServer, Delivery
    from palprep.client import AsyncClient, Client
    from palprep.consent.facts import ConsentFacts
    from palprep.dossier.chain import Dossier
    from palprep.dossier.files import ExaminedDossier, examine_dossier
    from palprep.errors import (
        ApiError,
        AuthenticationError,
        BadRequest,
        CannotFit,
        Conflict,
        CreationUnrecorded,
        DamagedMedia,
        DossierUnusable,
        FileMissing,
        FileUnreadable,
        FixError,
        InvalidRequest,
        JournalError,
        ManifestError,
        MediaError,
        MediaTooHeavy,
        NotFound,
        OutcomeUnknown,
        OutputUnwritable,
        PalprepError,
        PayloadTooLarge,
        PermissionDenied,
        Problem,
        ProfileError,
        PublishError,
        RateLimited,
        RowProblem,
        ServiceUnavailable,
        ServiceUnreachable,
        StorageError,
        TimedOut,
        ToolError,
        ToolFailed,
        ToolMissing,
        TransportError,
        UnexpectedReply,
        UnsupportedMedia,
        UsageError,
        WaitTimeout,
    )
    from palprep.facts.facts import Facts
    from palprep.facts.speaker import Speaker
    from palprep.fixes.done import FixDone
    from palprep.journal.creations import Creation, CreationState
    from palprep.journal.inbox import callback_server
    from palprep.journal.resolve import resolve_found, resolve_retry
    from palprep.journal.results import FaceVerdict
    from palprep.journal.run_view import PersonResult, PersonView, RunView
    from palprep.journal.store import Journal
    from palprep.pipelines.creation import MakeOptions
    from palprep.pipelines.make import make_replica, make_voice, validate_face
    from palprep.pipelines.requests import ReplicaRequest, VoiceRequest
    from palprep.preflight.asset import Asset
    from palprep.preflight.check_and_prepare import Preflight, check, prepare
    from palprep.preflight.prepared import Prepared
    from palprep.preflight.rank import Candidate, Ranking, pick_best
    from palprep.preflight.same_person import same_person
    from palprep.preflight.verify_consent import verify_consent
    from palprep.publish.chosen import publisher_from_env
    from palprep.publish.object_store import ObjectStorePublisher
    from palprep.publish.publishers import Publisher, SandboxPublisher
    from palprep.rules.profile import Profile, load_profile
    from palprep.rules.report import Check, Report
    from palprep.sandbox import Sandbox
    from palprep.values import Outcome, Role
    from palprep.views.data_frame import to_pandas
    from palprep.views.dossier_page import export_dossiers
    from palprep.vocabulary import FileInput, RoleName
    from palprep.workers.engine import Limits

__all__ = [
    "ApiError",
    "Asset",
    "AsyncClient",
    "AuthenticationError",
    "BadRequest",
    "CallbackServer",
    "Candidate",
    "CannotFit",
    "Check",
    "Client",
    "Conflict",
    "Connection",
    "ConsentFacts",
    "Creation",
    "CreationState",
    "CreationUnrecorded",
    "DamagedMedia",
    "Delivery",
    "Dossier",
    "DossierUnusable",
    "ExaminedDossier",
    "FaceVerdict",
    "Facts",
    "FileInput",
    "FileMissing",
    "FileUnreadable",
    "FixDone",
    "FixError",
    "InvalidRequest",
    "Journal",
    "JournalError",
    "Limits",
    "MakeOptions",
    "ManifestError",
    "ManifestRow",
    "MediaError",
    "MediaTooHeavy",
    "NotFound",
    "Note",
    "ObjectStorePublisher",
    "Outcome",
    "OutcomeUnknown",
    "OutputUnwritable",
    "Pace",
    "PalprepError",
    "PayloadTooLarge",
    "PermissionDenied",
    "PersonResult",
    "PersonView",
    "Preflight",
    "Prepared",
    "Problem",
    "Profile",
    "ProfileError",
    "Progress",
    "PublishError",
    "Publisher",
    "Ranking",
    "RateLimited",
    "ReplicaRequest",
    "Report",
    "Role",
    "RoleName",
    "RowProblem",
    "RunView",
    "Sandbox",
    "SandboxPublisher",
    "Selection",
    "ServiceUnavailable",
    "ServiceUnreachable",
    "Shard",
    "Speaker",
    "StorageError",
    "TimedOut",
    "ToolError",
    "ToolFailed",
    "ToolMissing",
    "TransportError",
    "UnexpectedReply",
    "UnsupportedMedia",
    "UsageError",
    "VoiceRequest",
    "WaitTimeout",
    "__version__",
    "callback_server",
    "check",
    "examine_dossier",
    "export_dossiers",
    "load_profile",
    "make_replica",
    "make_voice",
    "pick_best",
    "prepare",
    "publisher_from_env",
    "resolve_found",
    "resolve_retry",
    "run",
    "same_person",
    "to_pandas",
    "validate_face",
    "verify_consent",
    "watch",
]

_PUBLIC = {
    "palprep.batch.connection": "Connection",
    "palprep.batch.pace": "Pace",
    "palprep.batch.progress": "Note Progress",
    "palprep.batch.row": "ManifestRow",
    "palprep.batch.runner": "run",
    "palprep.batch.selection": "Selection Shard",
    "palprep.batch.watch_folder": "watch",
    "palprep.callbacks.server": "CallbackServer Delivery",
    "palprep.client": "AsyncClient Client",
    "palprep.consent.facts": "ConsentFacts",
    "palprep.dossier.chain": "Dossier",
    "palprep.dossier.files": "ExaminedDossier examine_dossier",
    "palprep.errors": (
        "ApiError AuthenticationError BadRequest CannotFit Conflict CreationUnrecorded "
        "DamagedMedia DossierUnusable FileMissing FileUnreadable FixError InvalidRequest "
        "JournalError ManifestError MediaError MediaTooHeavy NotFound OutcomeUnknown "
        "OutputUnwritable PalprepError PayloadTooLarge PermissionDenied Problem "
        "ProfileError PublishError RateLimited RowProblem ServiceUnavailable "
        "ServiceUnreachable StorageError TimedOut ToolError ToolFailed ToolMissing "
        "TransportError UnexpectedReply UnsupportedMedia UsageError WaitTimeout"
    ),
    "palprep.facts.facts": "Facts",
    "palprep.facts.probe": "Speaker",
    "palprep.fixes.done": "FixDone",
    "palprep.journal.creations": "Creation CreationState",
    "palprep.journal.inbox": "callback_server",
    "palprep.journal.resolve": "resolve_found resolve_retry",
    "palprep.journal.results": "FaceVerdict",
    "palprep.journal.run_view": "PersonResult PersonView RunView",
    "palprep.journal.store": "Journal",
    "palprep.pipelines.creation": "MakeOptions",
    "palprep.pipelines.make": "make_replica make_voice validate_face",
    "palprep.pipelines.requests": "ReplicaRequest VoiceRequest",
    "palprep.preflight.asset": "Asset",
    "palprep.preflight.check_and_prepare": "Preflight check prepare",
    "palprep.preflight.prepared": "Prepared",
    "palprep.preflight.rank": "Candidate Ranking pick_best",
    "palprep.preflight.same_person": "same_person",
    "palprep.preflight.verify_consent": "verify_consent",
    "palprep.publish.chosen": "publisher_from_env",
    "palprep.publish.object_store": "ObjectStorePublisher",
    "palprep.publish.publishers": "Publisher SandboxPublisher",
    "palprep.rules.profile": "Profile load_profile",
    "palprep.rules.report": "Check Report",
    "palprep.sandbox": "Sandbox",
    "palprep.values": "Outcome Role",
    "palprep.views.data_frame": "to_pandas",
    "palprep.views.dossier_page": "export_dossiers",
    "palprep.vocabulary": "FileInput RoleName",
    "palprep.workers.engine": "Limits",
}
"""The names of each module that are public here."""

_HOMES = {name: module for module, names in _PUBLIC.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'palprep' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    if "IPython" in sys.modules:
        importlib.import_module("palprep.views.notebook").register_if_running()
    return value


def load_ipython_extension(ipython: Any) -> None:
    """What ``%load_ext palprep`` calls: rich views of reports, prepared files and consent."""
    importlib.import_module("palprep.views.notebook").register(ipython)


def __dir__() -> list[str]:
    return __all__
