"""Who listens for a statement: Whisper, and Moonshine where Whisper leaves a doubt."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from palprep.consent.moonshine import Moonshine
from palprep.consent.whisper import Whisper


class Listeners:
    """Two models that were trained by different people on different recordings.

    The first one writes down what it hears, tells when it is said, and weighs other wordings. The
    second one weighs them again, and is loaded when the first one leaves a doubt. Several threads
    may use both at once.
    """

    def __init__(self, first: Whisper) -> None:
        self.first = first
        self._second: Moonshine | None = None
        self._loading = Lock()

    @classmethod
    def load(cls, directory: str | Path | None = None) -> Listeners:
        """With the default model as the first one, or the CTranslate2 Whisper model in
        ``directory``.

        Raises ToolMissing when a package or a model is missing, ToolFailed when the default model
        is not the published one or a model cannot be loaded.
        """
        Moonshine.require()
        return cls(Whisper.load(directory))

    def second(self, language: str) -> Moonshine | None:
        """The second model; None for a language that it does not know.

        Raises ToolMissing for a damaged one.
        """
        if not Moonshine.knows(language):
            return None
        with self._loading:
            if self._second is None:
                self._second = Moonshine.load()
            return self._second
