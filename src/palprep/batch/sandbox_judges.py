"""palprep's own checks as the sandbox's judge and trainer.

The sandbox opens no media itself. With these, what it says of a portrait and of a training is what
was measured, and what was heard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from palprep.api.face_checks import SERVICE_CHECKS
from palprep.batch.sandbox_workers import RequiredStatement
from palprep.consent.statements import required_statement
from palprep.errors import DamagedMedia
from palprep.preflight.check_and_prepare import check, shared_toolkit
from palprep.preflight.verify_wording import verify_wording
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


def train(
    statements: tuple[RequiredStatement, ...], kind: TrainingKind, paths: tuple[Path, ...]
) -> str | None:
    """What :class:`MediaTrainer` says of a training, as a task of a worker."""
    return MediaTrainer(statements)(kind, paths)


class MediaTrainer:
    """Trains from what palprep's own checks let pass, and from spoken consent alone.

    ``statements`` are those that it takes for consent, any one of them. Without any it is
    palprep's template in English.
    """

    def __init__(self, statements: Sequence[RequiredStatement] = ()) -> None:
        self._statements = tuple(dict.fromkeys(statements)) or (
            RequiredStatement(text=required_statement()),
        )

    def __call__(self, kind: TrainingKind, paths: tuple[Path, ...]) -> str | None:
        """The error_message of a training from these files, or None when it succeeds.

        Videos are probed by their packets and key frames: the one who published them has
        measured them closely. The statement is listened for in the consent video and only in
        it, or else in the opening of the training video.
        """
        for role, path in zip(_ROLES[kind], paths, strict=False):
            report = _readable(check(path, role=role, quick=kind == "replica-video"))
            failed = next(iter(report.told(Outcome.FAIL)), None)
            if failed is not None:
                return f"{role.value}: {failed.sentence}"
        return self._unheard(paths) if kind == "replica-video" else None

    def _unheard(self, paths: tuple[Path, ...]) -> str | None:
        """Why the wording of the consent does not match; None when it does."""
        where = "the consent video" if len(paths) > 1 else "the opening of the training video"
        why: list[str] = []
        for required in self._statements:
            heard = verify_wording(
                paths[-1],
                statement=required.text,
                language=required.language,
                model=shared_toolkit().listeners(required.model),
            )
            if heard.outcome.passed:
                return None
            why.append(f"{' '.join(heard.reasons)} Required is: “{required.text}”")
        return f"consent: the required statement was not heard in {where}. {' '.join(why)}"


def _readable(report: Report) -> Report:
    if report.error is not None:
        raise DamagedMedia(report.error.message)
    return report
