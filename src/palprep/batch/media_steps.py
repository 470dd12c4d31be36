"""The steps that need no service: prepare every file, its consent statement included."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from palprep._version import __version__
from palprep.batch.context import Ended, Progress, RunContext, stage_key
from palprep.batch.people import Person
from palprep.batch.tasks import Asset, AssetTask, compare_faces, fingerprint, prepare_asset
from palprep.consent.statements import read_statement
from palprep.dossier.files import keep_dossier, read_dossier, waive
from palprep.errors import MediaError, UsageError
from palprep.facts.probe import Speaker
from palprep.media.source import sha256_of
from palprep.preflight.prepared import Prepared
from palprep.rules.consent import CONSENT_CHECKS, lacks_consent
from palprep.rules.measures import measure_words
from palprep.rules.profile import load_profile
from palprep.rules.report import Check, Report
from palprep.values import Outcome, Role

_SHOWING = (Role.FACE_IMAGE, Role.TRAINING_VIDEO, Role.CONSENT_VIDEO)
"""The roles whose files show a face."""

_WITHOUT = (
    "No video is trained from without consent: record the statement, at the start of the training "
    "video or as a video of its own; or run with --without-consent"
)


def prepare_files(person: Person, bench: RunContext) -> Mapping[Role, Asset]:
    """Every file of the person, prepared. Ends the work when one is unfit, when they show
    different people, or when a video would be trained from without consent.
    """
    if person.problems:
        raise Ended("refused", *person.problems)
    tasks = _tasks(person, bench)
    # The threads only wait; the engine's workers do the work, as many at once as it has.
    with concurrent.futures.ThreadPoolExecutor(max_workers=len(tasks)) as threads:
        prepared = [threads.submit(_asset, person, bench, task) for task in tasks]
        assets = {each.result().role: each.result() for each in prepared}
    _add_clip(person, bench, assets)
    reasons = [reason for asset in assets.values() for reason in unfit(asset, CONSENT_CHECKS)]
    lacking = _lacking_consent(assets)
    if lacking and bench.without_consent:
        bench.note(person, "waived", {"why": lacking})
    elif lacking:
        reasons += [*lacking, _WITHOUT]
    alike = () if reasons else _compare_faces(person, bench, assets)
    for asset in assets.values():
        _keep_dossier(person, bench, asset, alike, lacking if bench.without_consent else [])
    reasons += [_failure(check) for check in alike if check.outcome is Outcome.FAIL]
    if reasons:
        raise Ended("refused", *reasons)
    return assets


def _tasks(person: Person, bench: RunContext) -> list[AssetTask]:
    sources = dict(person.sources)
    if Role.VOICE_AUDIO not in sources and Role.TRAINING_VIDEO in sources:
        sources[Role.VOICE_AUDIO] = sources[Role.TRAINING_VIDEO]
    # Consent is given in a video of its own, or in the opening of the training video.
    apart = Role.CONSENT_VIDEO in sources
    spoken_in = Role.CONSENT_VIDEO if apart else Role.TRAINING_VIDEO
    profile, speaker = bench.profile_for(person), None
    if spoken_in in sources:
        speaker = _speaker(person, profile)
    return [
        AssetTask(
            source=str(source),
            into=str(bench.into / "prepared" / person.slug / role.value),
            role=role,
            profile=profile,
            speaker=speaker if role is spoken_in else None,
            consent_apart=apart and role is Role.TRAINING_VIDEO,
            split_consent=person.settings.split_consent and role is spoken_in and not apart,
        )
        for role, source in sources.items()
    ]


def _add_clip(person: Person, bench: RunContext, assets: dict[Role, Asset]) -> None:
    """The statement that was split out of the training video is an asset of its own."""
    training = assets.get(Role.TRAINING_VIDEO)
    clip = training.prepared.consent if training and training.prepared else None
    if training is None or clip is None:
        return
    assets[Role.CONSENT_VIDEO] = Asset(
        role=Role.CONSENT_VIDEO,
        source=training.source,
        source_sha256=training.source_sha256,
        prepared=clip,
        seconds=0.0,
    )
    bench.note(person, "prepared", assets[Role.CONSENT_VIDEO].recorded())


def _lacking_consent(assets: Mapping[Role, Asset]) -> list[str]:
    """What is amiss with the consent, one sentence each; empty when it is given."""
    failed = [
        f"{_named(asset)}: {_failure(check)}"
        for asset in assets.values()
        for check in asset.report.having(Outcome.FAIL)
        if check.id in CONSENT_CHECKS
    ]
    training, apart = assets.get(Role.TRAINING_VIDEO), assets.get(Role.CONSENT_VIDEO)
    if failed or training is None:
        return failed
    lacking = lacks_consent(training.report, apart.report if apart else None)
    return [f"{_named(training)}: {lacking}"] if lacking else []


def _compare_faces(
    person: Person, bench: RunContext, assets: Mapping[Role, Asset]
) -> tuple[Check, ...]:
    """Whether portrait, training video and consent video show one person, pair by pair."""
    found = (assets[role].prepared for role in _SHOWING if role in assets)
    shown = [prepared for prepared in found if prepared is not None]
    if len(shown) < 2:
        return ()
    key = stage_key("likeness", *(prepared.sha256 for prepared in shown))
    body = bench.earlier(person, "likeness", key, lambda _: True)
    if body is None:
        bench.tell(Progress(person=person.slug, step="compare faces"))
        paths = tuple(prepared.path for prepared in shown)
        compared = bench.engine.run(compare_faces, paths, bench.profile_for(person))
        body = {"checks": [check.model_dump(mode="json", round_trip=True) for check in compared]}
        bench.note(person, "likeness", body, key)
    return tuple(Check.model_validate(check) for check in body["checks"])


def _keep_dossier(
    person: Person, bench: RunContext, asset: Asset, alike: tuple[Check, ...], waived: list[str]
) -> None:
    """Put on file what was heard of the consent, whether or not it suffices."""
    if asset.prepared is None:
        return
    now = bench.journal.now()
    path = keep_dossier(asset.prepared, person=person.slug, written_at=now, alike=alike)
    if path is None:
        return
    if waived:
        waive(path, written_at=now, note=" ".join(waived))
    # The whole dossier, so that one that was written anew is told from the one that was kept.
    beside = path.relative_to(bench.into).as_posix()
    bench.note(person, "dossier", {"path": beside, "dossier": read_dossier(path).to_json()})


def unfit(asset: Asset, besides: Container[str] = ()) -> tuple[str, ...]:
    """Why an asset cannot be used, ``besides`` these checks, one sentence each; empty when it
    can.
    """
    where, report = _named(asset), asset.report
    if report.error is not None:
        return (f"{where}: {report.error.message}",)
    failed = tuple(
        f"{where}: {_failure(check)}"
        for check in report.having(Outcome.FAIL)
        if check.id not in besides
    )
    if failed or asset.prepared is not None:
        return failed
    return (f"{where}: {asset.problem or 'it could not be prepared'}",)


def _named(asset: Asset) -> str:
    return f"{Path(asset.source).name} ({asset.role.value})"


def _failure(check: Check) -> str:
    measured = f" is {measure_words(check.measured)}" if check.measured is not None else ""
    limit = f", wanted {check.limit}" if check.limit else ""
    advice = f". {check.advice}" if check.advice else ""
    return f"{check.label}{measured}{limit}{advice}"


def _speaker(person: Person, profile: str) -> Speaker:
    try:
        statement = read_statement(person.statement, profile=profile) if person.statement else None
        return Speaker(
            full_name=person.full_name, statement=statement, language=person.settings.language
        )
    except UsageError as error:
        raise Ended("refused", error.message) from None


def _asset(person: Person, bench: RunContext, task: AssetTask) -> Asset:
    bench.go_on()
    bench.tell(Progress(person=person.slug, step=f"prepare {task.role.value}"))
    try:
        digest = fingerprint(task.source)
        limits = load_profile(task.profile).model_dump_json()
        asked = (task.speaker, task.consent_apart, task.split_consent)
        key = stage_key("prepared", digest, task.role.value, limits, *asked, __version__)
        body = bench.earlier(person, "prepared", key, lambda found: _still_good(found, task))
        if body is not None:
            return Asset.model_validate(body)
        asset = bench.engine.run(prepare_asset, task, digest)
    except MediaError as error:
        key = None
        asset = _unread(task, error)
    bench.note(person, "prepared", asset.recorded(), key)
    return asset


def _still_good(body: Mapping[str, Any], task: AssetTask) -> bool:
    try:
        asset = Asset.model_validate(body)
    except ValidationError:
        return False  # Recorded by a palprep that kept other fields.
    if asset.prepared is None or asset.source != task.source:
        return False
    spoken = (asset.prepared.consent or asset.prepared).report
    consent = spoken.facts.consent if spoken.facts else None
    if task.speaker is not None and (consent is None or consent.outcome == "unknown"):
        return False  # What could not listen then may be installed now.
    outputs = (each for each in (asset.prepared, asset.prepared.consent) if each is not None)
    return all(map(_as_prepared, outputs))


def _as_prepared(prepared: Prepared) -> bool:
    output = Path(prepared.path)
    return output.is_file() and sha256_of(output) == prepared.sha256


def _unread(task: AssetTask, error: MediaError) -> Asset:
    failure = {"code": error.code, "message": error.message}
    report = Report.model_validate(
        {"path": task.source, "role": task.role, "profile": task.profile, "error": failure}
    )
    return Asset(
        role=task.role, source=task.source, source_sha256=None, source_report=report, seconds=0.0
    )
