"""palprep's own checks as the sandbox's judge and trainer.

The sandbox opens no media itself. With these, what the embedded sandbox says of a portrait
and of a training is what was measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from palprep.api.face_checks import SERVICE_CHECKS
from palprep.errors import DamagedMedia
from palprep.preflight.check_and_prepare import check
from palprep.rules.measures import measure_words
from palprep.rules.report import Report
from palprep.sandbox.judges import TrainingKind
from palprep.values import Outcome, Role

_ROLES: Mapping[TrainingKind, tuple[Role, ...]] = {
    "voice": (Role.VOICE_AUDIO,),
    "replica-video": (Role.TRAINING_VIDEO, Role.CONSENT_VIDEO),
    "replica-image": (Role.FACE_IMAGE,),
}


def judge_image(path: Path, model: str) -> Mapping[str, bool | None]:
    """The service's checks of a portrait by their ids; None where nothing measures.

    Raises DamagedMedia for a file that is no image.
    """
    report = _readable(check(path, role=Role.FACE_IMAGE, profile=model))
    passed = {each.id: each.passed for each in report.checks}
    return {check_id: passed.get(check_id) for check_id in SERVICE_CHECKS}


def train(kind: TrainingKind, paths: tuple[Path, ...]) -> str | None:
    """The error_message of a training from these files, or None when it succeeds.

    Videos are probed by their packets and key frames: the one who published them has measured
    them closely. The statement's words are not verified here: a training request does not say
    who must speak them.
    """
    for role, path in zip(_ROLES[kind], paths, strict=False):
        report = _readable(check(path, role=role, quick=kind == "replica-video"))
        failed = next(iter(report.having(Outcome.FAIL)), None)
        if failed is not None:
            measured = measure_words(failed.measured)
            return f"{role.value}: {failed.label}: {measured}, wanted {failed.limit}"
    return None


def _readable(report: Report) -> Report:
    if report.error is not None:
        raise DamagedMedia(report.error.message)
    return report
