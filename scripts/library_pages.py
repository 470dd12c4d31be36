"""The reference of the library: a page for each public name, and one that lists all of them.

``make_docs.py`` writes them.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterator, Mapping

import palprep

LIBRARY: Mapping[str, str] = {
    "Check and prepare": """
        check prepare media_workers Limits pick_best same_person verify_consent
    """,
    "Make a voice, make a replica": """
        make_voice make_replica validate_face VoiceRequest ReplicaRequest
        run ManifestRow Selection Shard watch Pace Connection write_messages
    """,
    "The service": """
        Client AsyncClient Sandbox
    """,
    "Publish": """
        publisher_from_env ObjectStorePublisher SandboxPublisher Publisher
    """,
    "Callbacks and the journal": """
        Journal callback_server into_journal PublicCallbacks callback_app CallbackServer
        Delivery parse_event resolve_ended resolve_found resolve_retry
    """,
    "Decisions and dossiers": """
        decide ConsentDecision ConsentEvidence ConsentDoubt examine_dossier
        export_dossiers Dossier ExaminedDossier
    """,
    "In Jupyter": """
        to_pandas
    """,
    "Values": """
        Report Check Prepared FixDone Facts ConsentFacts Speaker Ranking Candidate Asset
        Creation CreationState FaceVerdict RunView PersonView PersonResult RunOptions
        Message Progress Note Profile load_profile Role Outcome FileInput RoleName
    """,
    "Errors": """
        PalprepError UsageError ProfileError ManifestError ConsentUnproven MediaError MediaTooHeavy
        FileMissing FileUnreadable UnsupportedMedia DamagedMedia ToolError ToolMissing
        ToolFailed NoWorkers ClusterFailed FixError CannotFit OutputUnwritable StorageError
        PublishError JournalError JournalBusy CreationUnrecorded DossierUnusable InvalidRequest
        ApiError BadRequest AuthenticationError PermissionDenied NotFound Conflict
        PayloadTooLarge RateLimited ServiceUnavailable UnexpectedReply TransportError
        ServiceUnreachable TimedOut OutcomeUnknown WaitTimeout Problem RowProblem
    """,
}
"""The public names by what they are for. A test holds that every one stands here once."""

_BREAK = "\n\n"
_FIRST = re.compile(r"(.+?[.:])(?:\s|$)", re.DOTALL)
_ROLE = re.compile(r":\w+:`~?(?:[\w.]+\.)?(\w+)`")


def library_pages() -> Iterator[tuple[str, str]]:
    """Each page by its path within docs/reference, and its text."""
    yield "api.md", _index()
    for names in LIBRARY.values():
        for name in names.split():
            yield page_of(name), _PAGE.format(name=name)


_PAGE = """\
---
title: {name}
---

[Library](../api.md)

::: palprep.{name}
    options:
      heading_level: 1
"""


def page_of(name: str) -> str:
    """Where the page of a name is. Names that differ in capitals alone are one on some disks."""
    alike = Counter(each.casefold() for names in LIBRARY.values() for each in names.split())
    twice = alike[name.casefold()] > 1 and name[0].isupper()
    return f"library/{name}{'-class' if twice else ''}.md"


def _index() -> str:
    sections = []
    for title, names in LIBRARY.items():
        rows = (f"| [`{name}`]({page_of(name)}) | {_what(name)} |" for name in names.split())
        sections.append("\n".join((f"## {title}\n", "| Name | What it is |", "|---|---|", *rows)))
    return f"""\
# Library

Everything that scripts need comes from `palprep`: a page for each name. What is below, in its
modules, may change.

A file is a path, the file's bytes, or a binary file (`FileInput`). A role is a `Role`, or its name
(`RoleName`). A profile is a name, a TOML file, or a `Profile`. [The errors](errors.md) stand in a
table with what to do, too.

{_BREAK.join(sections)}
"""


def _what(name: str) -> str:
    """The first sentence about it; of a mere type, its kind."""
    value = getattr(palprep, name)
    documented = inspect.isclass(value) or inspect.isfunction(value)
    said = _FIRST.match(inspect.cleandoc(value.__doc__ or "")) if documented else None
    if said is None:
        return "A type, for annotations."
    sentence = _ROLE.sub(r"`\1`", " ".join(said[1].split()).rstrip(":.") + ".")
    return re.sub(r"``([^`]+)``", r"`\1`", sentence).replace("|", "\\|")
