"""The steps that need no service: prepare every file, and verify the consent."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from palprep._version import __version__
from palprep.batch.bench import Bench, Ended, Progress, stage_key
from palprep.batch.people import Person
from palprep.batch.work import (
    Asset,
    AssetTask,
    SpokenConsent,
    Verify,
    fingerprint,
    prepare_asset,
    verify_spoken,
)
from palprep.errors import MediaError
from palprep.preflight import sha256_of
from palprep.rules.profile import load_profile
from palprep.rules.report import Report
from palprep.rules.roles import Outcome, Role


def prepare_files(person: Person, bench: Bench) -> Mapping[Role, Asset]:
    """Every file of the person, prepared. Ends the work when one is unfit."""
    if person.problems:
        raise Ended("refused", *person.problems)
    sources = dict(person.sources)
    if Role.VOICE_AUDIO not in sources and Role.TRAINING_VIDEO in sources:
        sources[Role.VOICE_AUDIO] = sources[Role.TRAINING_VIDEO]
    # The threads only wait; the engine's workers do the work, as many at once as it has.
    with concurrent.futures.ThreadPoolExecutor(max_workers=len(sources)) as threads:
        prepared = threads.map(lambda item: _asset(person, bench, *item), sources.items())
        assets = {asset.role: asset for asset in prepared}
    reasons = [reason for asset in assets.values() for reason in unfit(asset)]
    if reasons:
        raise Ended("refused", *reasons)
    return assets


def verify_consent(person: Person, bench: Bench, assets: Mapping[Role, Asset]) -> None:
    """Hold the spoken statement against the required one. Ends the work when it fails.

    It is looked for in the consent video, otherwise in the training video, whose opening
    must then hold it. Without either nothing is verified: no replica can come of it.
    """
    asset = assets.get(Role.CONSENT_VIDEO) or assets.get(Role.TRAINING_VIDEO)
    if asset is None or asset.prepared is None:
        return
    bench.go_on()
    bench.tell(Progress(person=person.slug, step="verify consent"))
    statement = str(person.statement) if person.statement else None
    wording = _digest_of(person.statement) if person.statement else "default"
    heard = (asset.prepared.sha256, person.full_name, wording, __version__, _name_of(bench.verify))
    key = stage_key("consent", *heard)
    body = bench.earlier(person, "consent", key, lambda found: found["outcome"] != "unknown")
    if body is None:
        path = asset.prepared.path
        body = bench.engine.run(verify_spoken, bench.verify, path, person.full_name, statement)
        body = {**body, "path": path, "role": asset.role.value}
        bench.note(person, "consent", body, key)
    consent = SpokenConsent.model_validate(body)
    if consent.outcome is Outcome.FAIL:
        where = Path(asset.source).name
        reasons = consent.reasons or ("the required statement was not heard",)
        raise Ended("refused", *(f"Consent in {where}: {reason}" for reason in reasons))


def unfit(asset: Asset) -> tuple[str, ...]:
    """Why an asset cannot be used, one sentence each; empty when it can."""
    where = f"{Path(asset.source).name} ({asset.role.value})"
    report = asset.report
    if report.error is not None:
        return (f"{where}: {report.error.message}",)
    failed = tuple(
        f"{where}: {sentence}" for sentence in map(_failure, report.having(Outcome.FAIL))
    )
    if failed or asset.prepared is not None:
        return failed
    return (f"{where}: {asset.problem or 'it could not be prepared'}",)


def _failure(check: Any) -> str:
    measured = f" is {check.measured}" if check.measured is not None else ""
    limit = f", wanted {check.limit}" if check.limit else ""
    advice = f". {check.advice}" if check.advice else ""
    return f"{check.label}{measured}{limit}{advice}"


def _asset(person: Person, bench: Bench, role: Role, source: Path) -> Asset:
    bench.go_on()
    bench.tell(Progress(person=person.slug, step=f"prepare {role.value}"))
    profile = bench.profile_for(person)
    try:
        digest = fingerprint(str(source))
        limits = load_profile(profile).model_dump_json()
        key = stage_key("prepared", digest, role.value, limits, __version__)
        body = bench.earlier(person, "prepared", key, lambda found: _still_good(found, source))
        if body is not None:
            return Asset.model_validate(body)
        task = AssetTask(
            source=str(source),
            into=str(bench.into / "prepared" / person.slug / role.value),
            role=role,
            profile=profile,
        )
        asset = bench.engine.run(prepare_asset, task, digest)
    except MediaError as error:
        key = None
        asset = _unread(role, source, profile, error)
    bench.note(person, "prepared", asset.recorded(), key)
    return asset


def _still_good(body: Mapping[str, Any], source: Path) -> bool:
    try:
        asset = Asset.model_validate(body)
    except ValidationError:
        return False  # Recorded by a palprep that kept other fields.
    if asset.prepared is None or asset.source != str(source):
        return False
    output = Path(asset.prepared.path)
    return output.is_file() and sha256_of(output) == asset.prepared.sha256


def _unread(role: Role, source: Path, profile: str, error: MediaError) -> Asset:
    failure = {"code": error.code, "message": error.message}
    report = Report.model_validate(
        {"path": str(source), "role": role, "profile": profile, "error": failure}
    )
    return Asset(
        role=role, source=str(source), source_sha256=None, source_report=report, seconds=0.0
    )


def _digest_of(path: Path) -> str:
    try:
        return sha256_of(path)
    except OSError as error:
        raise Ended("refused", f"{path.name} cannot be read: {error.strerror}") from None


def _name_of(verify: Verify) -> str:
    return f"{verify.__module__}.{getattr(verify, '__qualname__', type(verify).__qualname__)}"
