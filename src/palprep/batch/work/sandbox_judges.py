"""palprep's own checks as the sandbox's judge and trainer, in the workers of an engine.

The sandbox opens no media itself. With these, what it says of a portrait and of a training is what
was measured, and what was heard. What a door names is loaded where it is used: decoders in the
workers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ParamSpec, TypeVar

from palprep import preflight, sandbox
from palprep.api.records import FACE_CHECKS
from palprep.consent.wording import required_statement
from palprep.errors import DamagedMedia, FixError, ToolError
from palprep.journal.entries import SandboxStatement
from palprep.media.sources import type_of
from palprep.rules import Report
from palprep.values import Outcome, Role
from palprep.workers import Engine, WorkStopped

P = ParamSpec("P")
T = TypeVar("T")


def judging_in(
    workers: Engine, statements: Sequence[SandboxStatement] = ()
) -> functools.partial[sandbox.Sandbox]:
    """Makes a sandbox that has media opened in ``workers``. Its trainer takes any of ``statements``
    for consent; without one, palprep's template."""
    return functools.partial(
        sandbox.Sandbox,
        judge_image=apart(judge_image, workers),
        # Arguments of the task, so that its worker may open the models that they name.
        trainer=functools.partial(apart(train, workers), statements=tuple(statements)),
        recognise=apart(type_of, workers),
    )


def apart(function: Callable[P, T], workers: Engine) -> Callable[P, T]:
    """The function, called by ``workers``. DamagedMedia is raised where it crashes one, too, and
    WorkStopped where they are ended."""

    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return workers.run(function, *args, **kwargs)
        except WorkStopped:
            raise
        except ToolError as error:
            raise DamagedMedia(error.message) from None

    return call


_ROLES: Mapping[sandbox.TrainingKind, tuple[Role, ...]] = {
    "voice": (Role.VOICE_AUDIO,),
    "replica-video": (Role.TRAINING_VIDEO, Role.CONSENT_VIDEO),
    "replica-image": (Role.FACE_IMAGE,),
    "replica-image-auto-fix": (Role.FACE_IMAGE,),
}


def judge_image(path: Path, model: str) -> Mapping[str, bool | None]:
    """The service's checks of a portrait by their ids; None where nothing measures.

    Raises DamagedMedia for a file that is no image.
    """
    report = _readable(preflight.check(path, role=Role.FACE_IMAGE, profile=model))
    passed = {each.id: each.passed for each in report.checks}
    return {check_id: passed.get(check_id) for check_id in FACE_CHECKS}


def train(
    kind: sandbox.TrainingKind,
    paths: tuple[Path, ...],
    *,
    statements: Sequence[SandboxStatement] = (),
) -> str | None:
    """The error_message of a training from these files, or None when it succeeds.

    Videos are probed by their packets and key frames: the one who published them has measured them
    closely. An image that may be fixed is prepared first, as `palprep fix` does. Any one of
    ``statements``, or else palprep's template in English, is listened for in the consent video, or
    without one in the opening of the training video.
    """
    for role, path in zip(_ROLES[kind], paths, strict=False):
        if kind == "replica-image-auto-fix":
            with TemporaryDirectory() as folder:
                try:
                    report = preflight.prepare(path, into=folder, role=role).report
                except FixError as error:
                    return f"{role.value}: {error.message}"
        else:
            report = _readable(preflight.check(path, role=role, quick=kind == "replica-video"))
        failed = next(iter(report.told(Outcome.FAIL)), None)
        if failed is not None:
            return f"{role.value}: {failed.sentence}"
    required = statements or (SandboxStatement(text=required_statement()),)
    return _unheard(paths, required) if kind == "replica-video" else None


def _unheard(paths: tuple[Path, ...], statements: Sequence[SandboxStatement]) -> str | None:
    """Why the wording of the consent does not match; None when it does."""
    where = "the consent video" if len(paths) > 1 else "the opening of the training video"
    why: list[str] = []
    for required in statements:
        heard = preflight.verify_wording(
            paths[-1], statement=required.text, language=required.language, model=required.model
        )
        if heard.outcome.passed:
            return None
        why.append(f"{' '.join(heard.reasons)} Required is: “{required.text}”")
    return f"consent: the required statement was not heard in {where}. {' '.join(why)}"


def _readable(report: Report) -> Report:
    if report.error is not None:
        raise DamagedMedia(report.error.message)
    return report
