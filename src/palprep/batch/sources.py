"""What was made of a person's files: found good again, or unreadable."""

from __future__ import annotations

from palprep.batch.asset_task import AssetTask
from palprep.batch.kept_files import KeptFiles
from palprep.errors import PalprepError
from palprep.journal.entries import AssetPrepared
from palprep.preflight.asset import Asset
from palprep.rules.report import Report


def still_good(found: AssetPrepared, task: AssetTask, files: KeptFiles) -> bool:
    """Whether an earlier result may stand for the task: its outputs are there, unchanged; or the
    file itself is why there are none.
    """
    asset = found.asset
    if asset.source != task.source or (asset.prepared is None and not asset.problem_in_file):
        return False
    if task.speaker is not None and _unheard(asset):
        return False  # What could not listen then may be installed now.
    prepared = asset.prepared
    outputs = (each for each in (prepared, prepared and prepared.consent) if each is not None)
    return all(map(files.holds, outputs))


def _unheard(asset: Asset) -> bool:
    """Whether no one listened for consent in a file that could be read."""
    clip = asset.prepared.consent if asset.prepared else None
    report = clip.report if clip else asset.report
    consent = report.facts.consent if report.facts else None
    return report.error is None and (consent is None or consent.outcome == "unknown")


def unread(task: AssetTask, error: PalprepError) -> Asset:
    """The asset of a source that could not be read, or at which a worker ended."""
    failure = {"code": error.code, "message": error.message}
    report = Report.model_validate(
        {"path": task.source, "role": task.role, "profile": task.profile, "error": failure}
    )
    return Asset(
        role=task.role, source=task.source, source_sha256=None, source_report=report, seconds=0.0
    )
