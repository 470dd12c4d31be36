"""What one file brings to a ranking: an image, or the frames of a video, looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from palprep.errors import UnsupportedMedia
from palprep.facts.facts import Facts
from palprep.media.frames import sample_frames
from palprep.media.image import probe_and_open
from palprep.media.source import Source
from palprep.preflight.check_and_prepare import shared_toolkit
from palprep.preflight.fitness import fitness
from palprep.preflight.rank import Candidate
from palprep.rules.judge import judge
from palprep.rules.profile import Profile
from palprep.rules.registry import PORTRAIT_CHECKS
from palprep.rules.report import Check
from palprep.values import Kind, Outcome, Role
from palprep.vision.analysis import MAX_SIDE, analyse_portrait
from palprep.vision.models import Models


def candidates_in(
    source: Source, limits: Profile, per_second: float, models: Models | None = None
) -> list[Candidate]:
    """The image, or the video's frames at ``per_second``, in their order."""
    return list(_candidates(source, limits, per_second, models or shared_toolkit().models))


def _candidates(
    source: Source, limits: Profile, per_second: float, models: Models
) -> Iterator[Candidate]:
    if source.type.kind is Kind.IMAGE:
        image, pixels = probe_and_open(source, max_side=MAX_SIDE)
        picture = analyse_portrait(pixels, models, size=(image.width, image.height))
        facts = Facts(file=source.facts, image=image, portrait=picture)
        yield _candidate(facts, limits, None)
    elif source.type.kind is Kind.VIDEO:
        for frame in sample_frames(source, per_second=per_second, max_side=MAX_SIDE):
            facts = Facts(file=source.facts, portrait=analyse_portrait(frame.rgb, models))
            yield _candidate(facts, limits, frame.at_s)
    else:
        raise UnsupportedMedia(
            f"{source.name} is {source.type.description}; name an image or a video"
        )


def _candidate(facts: Facts, limits: Profile, at_s: float | None) -> Candidate:
    judged = judge(facts, Role.FACE_IMAGE, limits)
    checks = [check for check in judged if check.id in PORTRAIT_CHECKS]
    if facts.portrait is None:
        raise ValueError("a candidate has been looked at")
    return Candidate(
        path=facts.file.path,
        at_s=at_s,
        fitness=round(fitness(facts.portrait), 4),
        failed=_ids(checks, Outcome.FAIL),
        warned=_ids(checks, Outcome.WARN),
        fingerprint=facts.portrait.fingerprint,
        duplicate_of=None,
    )


def _ids(checks: Iterable[Check], outcome: Outcome) -> tuple[str, ...]:
    return tuple(check.id for check in checks if check.outcome is outcome)
