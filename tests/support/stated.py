"""The check of a statement, as reports hold it, and videos in which it was listened for."""

from __future__ import annotations

import hashlib
from pathlib import Path

from raw import MP4

from palprep.consent import ConsentFacts, WordRecord
from palprep.facts import Facts
from palprep.media.sources import Source
from palprep.preflight import Prepared
from palprep.rules import Check, Report
from palprep.values import Outcome


def spoken(outcome):
    """The check of the statement's words."""
    return Check(id="consent_spoken", label="Consent statement", outcome=outcome, measured="x")


GIVEN = (spoken(Outcome.PASS),)
"""The checks of a video in which consent was heard."""


def listened_to(path: Path, outcome: Outcome) -> Prepared:
    """A video in which the statement was listened for, with this outcome."""
    heard = ConsentFacts(
        outcome=outcome, transcript="", starts_at=None, ends_at=None, words=(), reasons=("No.",),
        statement="I", full_name="Ada", language="en",
    )  # fmt: skip
    path.write_bytes(MP4)
    digest = hashlib.sha256(MP4).hexdigest()
    facts = Facts(file=Source.of(path).facts, consent=heard)
    return Prepared(
        source=str(path), path=str(path), fixes=(), sha256=digest, source_sha256=digest,
        report=Report(path=str(path), role=None, profile="core-4", facts=facts,
                      checks=(spoken(outcome),)),
    )  # fmt: skip


def said_at(video: Prepared, name: str, data: bytes, starts: list[float]) -> Prepared:
    """Another file of the statement, whose words begin at these times."""
    words = tuple(
        WordRecord(expected=f"word{place}", heard="x", start=start, end=start + 0.2,
                   probability=0.9, outcome="pass")
        for place, start in enumerate(starts)
    )  # fmt: skip
    path, digest = video.path.with_name(name), hashlib.sha256(data).hexdigest()
    path.write_bytes(data)
    facts = video.report.facts
    said = facts.model_copy(update={"consent": facts.consent.model_copy(update={"words": words})})
    return video.model_copy(
        update={"source": str(path), "path": path, "sha256": digest, "source_sha256": digest,
                "report": video.report.model_copy(update={"facts": said})}
    )  # fmt: skip
