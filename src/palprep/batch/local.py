"""The steps that need no service: prepare every file, its consent statement included."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from palprep._version import __version__
from palprep.batch.bench import Bench, Ended, Progress, stage_key
from palprep.batch.people import Person
from palprep.batch.work import Asset, AssetTask, compare_faces, fingerprint, prepare_asset
from palprep.dossiers import keep_dossier
from palprep.errors import MediaError
from palprep.preflight import sha256_of
from palprep.probe import Speaker
from palprep.rules.profile import load_profile
from palprep.rules.report import Check, Report
from palprep.rules.roles import Outcome, Role

_SHOWING = (Role.FACE_IMAGE, Role.TRAINING_VIDEO, Role.CONSENT_VIDEO)
"""The roles whose files show a face."""


def prepare_files(person: Person, bench: Bench) -> Mapping[Role, Asset]:
    """Every file of the person, prepared. Ends the work when one is unfit."""
    if person.problems:
        raise Ended("refused", *person.problems)
    sources = dict(person.sources)
    if Role.VOICE_AUDIO not in sources and Role.TRAINING_VIDEO in sources:
        sources[Role.VOICE_AUDIO] = sources[Role.TRAINING_VIDEO]
    # Consent is given in a video of its own, or in the opening of the training video.
    spoken_in = Role.CONSENT_VIDEO if Role.CONSENT_VIDEO in sources else Role.TRAINING_VIDEO
    speaker = _speaker(person)
    # The threads only wait; the engine's workers do the work, as many at once as it has.
    with concurrent.futures.ThreadPoolExecutor(max_workers=len(sources)) as threads:
        prepared = [
            threads.submit(
                _asset, person, bench, role, source, speaker if role is spoken_in else None
            )
            for role, source in sources.items()
        ]
        assets = {each.result().role: each.result() for each in prepared}
    for asset in assets.values():
        _keep_dossier(person, bench, asset)
    reasons = [reason for asset in assets.values() for reason in unfit(asset)]
    if reasons:
        raise Ended("refused", *reasons)
    _compare_faces(person, bench, assets)
    return assets


def _compare_faces(person: Person, bench: Bench, assets: Mapping[Role, Asset]) -> None:
    """Portrait, training video and consent video show one person. Ends the work if not."""
    found = (assets[role].prepared for role in _SHOWING if role in assets)
    shown = [prepared for prepared in found if prepared is not None]
    if len(shown) < 2:
        return
    key = stage_key("likeness", *(prepared.sha256 for prepared in shown))
    body = bench.earlier(person, "likeness", key, lambda _: True)
    if body is None:
        bench.tell(Progress(person=person.slug, step="compare faces"))
        paths = tuple(prepared.path for prepared in shown)
        compared = bench.engine.run(compare_faces, paths, bench.profile_for(person))
        body = {"checks": [check.model_dump(mode="json", round_trip=True) for check in compared]}
        bench.note(person, "likeness", body, key)
    checks = tuple(Check.model_validate(check) for check in body["checks"])
    failed = [check for check in checks if check.outcome is Outcome.FAIL]
    if failed:
        raise Ended("refused", *map(_failure, failed))


def _keep_dossier(person: Person, bench: Bench, asset: Asset) -> None:
    """Put on file what was heard of the consent, whether or not it suffices."""
    if asset.prepared is None:
        return
    path = keep_dossier(asset.prepared, person=person.slug, written_at=bench.journal.now())
    if path is not None:
        bench.note(person, "dossier", {"path": str(path), "sha256": sha256_of(path)})


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


def _speaker(person: Person) -> Speaker:
    if person.statement is None:
        return Speaker(full_name=person.full_name)
    try:
        statement = person.statement.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Ended("refused", f"{person.statement.name} cannot be read: {error}") from None
    return Speaker(full_name=person.full_name, statement=statement)


def _asset(
    person: Person, bench: Bench, role: Role, source: Path, speaker: Speaker | None
) -> Asset:
    bench.go_on()
    bench.tell(Progress(person=person.slug, step=f"prepare {role.value}"))
    profile = bench.profile_for(person)
    try:
        digest = fingerprint(str(source))
        limits = load_profile(profile).model_dump_json()
        task = AssetTask(
            source=str(source),
            into=str(bench.into / "prepared" / person.slug / role.value),
            role=role,
            profile=profile,
            speaker=speaker,
        )
        key = stage_key("prepared", digest, role.value, limits, speaker, __version__)
        body = bench.earlier(person, "prepared", key, lambda found: _still_good(found, task))
        if body is not None:
            return Asset.model_validate(body)
        asset = bench.engine.run(prepare_asset, task, digest)
    except MediaError as error:
        key = None
        asset = _unread(role, source, profile, error)
    bench.note(person, "prepared", asset.recorded(), key)
    return asset


def _still_good(body: Mapping[str, Any], task: AssetTask) -> bool:
    try:
        asset = Asset.model_validate(body)
    except ValidationError:
        return False  # Recorded by a palprep that kept other fields.
    if asset.prepared is None or asset.source != task.source:
        return False
    consent = asset.consent
    if task.speaker is not None and (consent is None or consent.outcome == "unknown"):
        return False  # What could not listen then may be installed now.
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
