"""Views of runs that have ended, with one person who has everything that a page can show."""

from __future__ import annotations

from palprep.consent import ConsentFacts, WordRecord
from palprep.facts import Facts
from palprep.journal.creations.states import Creation, CreationState
from palprep.journal.entries.bodies import FaceCheck, FaceVerdict
from palprep.journal.runs import PersonView, RunHead, RunView
from palprep.preflight import Asset, Prepared
from palprep.rules import Check, Report
from palprep.values import Outcome, Rect, Role

EVIL = "<script>alert('x')</script>\"&amp;"


def facts_of_still(consent=None, voice=None):
    file_type = {
        "kind": "image", "format": "jpeg", "description": "a JPEG image", "mime": "image/jpeg",
        "extensions": [".jpg"], "accepted": True,
    }  # fmt: skip
    return Facts.model_validate(
        {
            "file": {"path": "a.jpg", "name": "a.jpg", "size_bytes": 123_456, "type": file_type},
            "image": {
                "format": "jpeg", "width": 200,
                "height": 400, "orientation": 1, "mode": "RGB", "bits_per_channel": 8,
                "icc_profile": None, "icc_is_srgb": None, "has_alpha": False, "frames": 1,
                "metadata": [], "base64_chars": 164_608,
            },
            "consent": consent, "voice": voice,
        }
    )  # fmt: skip


def report(*checks, **extra):
    return Report(
        path="out/a.jpg", role=Role.FACE_IMAGE, profile="core-4", checks=checks,
        facts=facts_of_still(**extra),
    )  # fmt: skip


BAD = Check(
    id="person_centered", label="Person in the middle", outcome=Outcome.FAIL, measured=0.41234567,
    limit="at most 0.2", source="a guide", advice="Step " + EVIL,
    region=Rect(x=50, y=100, width=100, height=40),
)  # fmt: skip
UNKNOWN = Check(id="no_nudity", label="No nudity", outcome=Outcome.UNKNOWN, advice="needs nsfw")
GOOD = Check(id="image_format", label="Image format", outcome=Outcome.PASS, measured="jpeg")


def asset(*checks, role=Role.FACE_IMAGE, **extra):
    prepared = Prepared(
        source="in/a.heic", source_sha256="cd" * 32,
        path="out/a.jpg", report=report(*checks, **extra),
        fixes=({"id": "convert", "did": f"converted {EVIL}"},), sha256="ab" * 32,
    )  # fmt: skip
    return Asset(role=role, source="in/a.heic", source_sha256="cd", prepared=prepared, seconds=1.5)


CONSENT = ConsentFacts(
    outcome="fail", transcript=f"I {EVIL}", starts_at=1.25, ends_at=3.5, full_name="Ada",
    language="en", statement="I agree", reasons=("agree was not heard",),
    words=(
        WordRecord(expected="I", heard="I", start=1.2, end=1.4, probability=0.9, outcome="pass"),
        WordRecord(expected=None, heard="never", start=1.5, end=1.7, probability=None,
                   outcome="fail"),
        WordRecord(expected="agree", heard=None, start=None, end=None, probability=0.1,
                   outcome="fail"),
    ),
)  # fmt: skip


def person(**changes):
    defaults = {
        "slug": "ada", "name": "Ada", "full_name": "Ada Lovelace", "status": "done", "reasons": (),
    }  # fmt: skip
    return PersonView.model_validate({**defaults, **changes})


def creation(what, **changes):
    return Creation.model_validate(
        {"key": f"{what}-1", "person": "ada", "what": what, "state": CreationState.COMPLETED,
         "id": f"{what}_7", **changes}
    )  # fmt: skip


class ReadRun(RunView):
    """A run whose people are all at hand, one person after the other."""

    def rows(self, slugs=None):
        found = {each.slug: each for each in self.people}
        return map(found.__getitem__, found if slugs is None else slugs)

    def person(self, slug):
        return next(self.rows([slug]))


def run(*people):
    return ReadRun(
        head=RunHead(
            started_at="2026-11-21T05:00:00.000+00:00", updated_at="2026-11-21T05:01:00.000+00:00",
            target="http://127.0.0.1:8700", profile="core-4", dry_run=False, version="0.1.0",
        ),
        people=people,
    )  # fmt: skip


def changed(seen, **head):
    """The same run, with another head."""
    return seen.model_copy(update={"head": seen.head.model_copy(update=head)})


FULL = person(
    name=f"Ada {EVIL}",
    status="redo",
    reasons=(f"because {EVIL}",),
    assets=(asset(GOOD, UNKNOWN, BAD, consent=CONSENT),),
    face=FaceVerdict(
        passed=False, message=EVIL, model="core-4",
        checks=(FaceCheck(id="x", label=f"Label {EVIL}", passed=False),),
    ),
    voice=creation(
        "voice", intended_at="2026-11-21T05:00:00+00:00", ended_at="2026-11-21T05:01:15+00:00"
    ),
    replica=creation("replica", state=CreationState.IN_DOUBT, id=None),
)  # fmt: skip
