"""An engine that hears what it is told, and what a journal holds after its run."""

from __future__ import annotations

import shutil
from pathlib import Path

from likeness import judge_likeness

from palprep.batch.engines.tasks import AssetTask, compare_people, prepare_asset, why_unheard
from palprep.consent import ConsentFacts
from palprep.facts import Facts
from palprep.journal import Journal
from palprep.journal.entries.bodies import Body
from palprep.media import FileFacts
from palprep.media.sources import Source, sha256_of
from palprep.preflight import Asset, Prepared
from palprep.rules import Check, Report
from palprep.rules.consent.checks import CONSENT_CHECKS
from palprep.values import Outcome, Role
from palprep.workers import Engine


@Engine.register
class Scripted:
    """Prepares by copying, hears what it is told, and keeps the tasks."""

    jobs = 1
    far = False

    def __init__(self, heard: str = "pass", deaf: str | None = None) -> None:
        self.heard = heard
        self.why = "A word was added."
        self.deaf = deaf
        self.asked: list[Role] = []
        self.tasks: dict[Role, AssetTask] = {}

    def run(self, function, /, *args):
        if function is compare_people:
            one, other, *_ = args[0]
            files = (one.sha256, other.sha256)
            return (judge_likeness(one.path.name, other.path.name, 0.9, files),)
        if function is why_unheard:
            self.asked.append(args[0].role)
            return self.deaf
        if function is not prepare_asset:
            return function(*args)  # How long a file lasts.
        task, source = args
        self.tasks[task.role] = task
        prepared = self._prepared(task, Path(task.into) / Path(task.source).name, task.role)
        if task.split_consent:
            clip = self._prepared(task, Path(task.into) / "x-consent.mp4", Role.CONSENT_VIDEO)
            prepared = prepared.model_copy(update={"consent": clip})
        return Asset(role=task.role, source=task.source, source_sha256=source.sha256, seconds=0.1,
                     prepared=prepared)  # fmt: skip

    def run_for(self, media_s, function, /, *args, **kwargs):
        """No limit is held here."""
        return self.run(function, *args, **kwargs)

    def complaints(self) -> tuple[str, ...]:
        """Nothing is wrong with a machine."""
        return ()

    def close(self, *, at_once: bool = False) -> None:
        """Nothing to end."""

    def _prepared(self, task: AssetTask, output: Path, role: Role) -> Prepared:
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(task.source, output)
        facts = Facts(
            file=FileFacts(
                path=str(output),
                name=output.name,
                size_bytes=1,
                type=Source.of(Path(task.source)).type,
            ),
        )
        checks: tuple[Check, ...] = ()
        if task.speaker is not None and self.heard != "no check":
            why = "" if self.heard == "pass" else self.why
            facts = facts.model_copy(update={"consent": ConsentFacts(
                outcome=self.heard, transcript="I", starts_at=0.5, ends_at=9.0, words=(),
                reasons=(why,) if why else (), statement="I", language="en",
                full_name=task.speaker.full_name,
            )})  # fmt: skip
            checks = (Check(id="consent_spoken", label="Consent statement", measured=self.heard,
                            outcome=Outcome(self.heard), advice=why or None),)  # fmt: skip
        report = Report(path=str(output), role=role, profile="core-4", checks=checks, facts=facts,
                        left_out=tuple(CONSENT_CHECKS) if task.consent_apart else ())  # fmt: skip
        return Prepared(source=task.source, source_sha256=sha256_of(Path(task.source)),
                        path=str(output), report=report, fixes=(),
                        sha256=sha256_of(output))  # fmt: skip


def recorded(out: Path, kind: type[Body]) -> list:
    """What the journal holds of a kind, oldest first."""
    with Journal.of(out) as journal:
        return [entry.body for entry in journal.entries(kind)]
