"""The sandbox's judge and trainer, asked by name in the workers that open its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Generic, ParamSpec, Self, TypeVar

from pydantic import model_validator

from palprep.consent.statements import PLACEHOLDER
from palprep.errors import DamagedMedia, ToolFailed, UsageError
from palprep.values import Value
from palprep.workers.engine import Runner
from palprep.workers.messages import ByName

if TYPE_CHECKING:
    from palprep.sandbox.judges import TrainingKind

P = ParamSpec("P")
T = TypeVar("T")

_JUDGES = "palprep.batch.sandbox_judges"


class RequiredStatement(Value):
    """A statement that the sandbox takes for consent. ``{full_name}`` stands for any name.

    Raises UsageError for a text without it.
    """

    text: str
    language: str = "en"
    model: Path | None = None
    """The folder of the Whisper model that listens; None for the one that palprep brings."""

    @model_validator(mode="after")
    def _leaves_the_name_open(self) -> Self:
        if PLACEHOLDER not in self.text:
            raise UsageError(
                f"The statement “{self.text}” leaves no place for a name: "
                f"write {PLACEHOLDER} where it is said"
            )
        return self


class Apart(Generic[P, T]):
    """A judge or a trainer whose files are opened by the workers of an engine."""

    def __init__(self, function: Callable[P, T], runner: Runner) -> None:
        self._function = function
        self._runner = runner

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function gives. Raises DamagedMedia where it crashes a worker, too."""
        try:
            return self._runner.run(self._function, *args, **kwargs)
        except ToolFailed as error:
            raise DamagedMedia(error.message) from None


JUDGE_IMAGE: ByName[[Path, str], Mapping[str, bool | None]] = ByName(_JUDGES, "judge_image")
TRAIN: ByName[[tuple[RequiredStatement, ...], TrainingKind, tuple[Path, ...]], str | None] = ByName(
    _JUDGES, "train"
)
