"""The files that are prepared for a person, and which of them can be used."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from palprep._version import __version__
from palprep.batch.engines.tasks import AssetTask
from palprep.batch.fingerprint import stage_key
from palprep.batch.people.files import File
from palprep.batch.people.person import Person
from palprep.batch.people.settings import SETTINGS_NAME
from palprep.batch.work.decision import profile_for
from palprep.batch.work.originals import Original, Originals
from palprep.errors import PalprepError, UnsupportedMedia
from palprep.facts import Speaker
from palprep.journal import PortraitPicked
from palprep.pipelines import named
from palprep.preflight import Asset, pick_best
from palprep.values import Kind, Outcome, Role
from palprep.views import PICTURES_NAME

PREPARED_NAME = "prepared"
"""The folder of a run that takes prepared files, by person and role."""


def pick_portrait(originals: Originals, person: Person) -> tuple[Person, tuple[str, ...]]:
    """The person with one of the ``portraits`` picked, and what to say of the choice. A person
    without several stays as it is.

    Images that cannot be read are passed over. Where none can be read, the first one stands for
    all, and its own report says why.
    """
    if not person.portraits:
        return person, ()
    run = originals.run
    known = {
        original.sha256: (file, original.source)
        for file in person.portraits
        if isinstance(original := originals.look_at(file), Original)
        and original.source.type.kind is Kind.IMAGE
    }
    unreadable = person.with_portrait(person.portraits[0], "no other image can be read"), ()
    if not known:
        return unreadable
    left_out: list[str] = []
    profile = profile_for(person, run.options.profile)
    key = stage_key("portrait", *known, run.profiles[profile].limits, __version__)
    earlier = run.journal.reused(
        PortraitPicked, key, person.slug, lambda found: found.sha256 in known
    )
    if earlier is not None:
        path, _ = known[earlier.sha256]
    elif len(known) == 1:
        [(path, _)] = known.values()
    else:
        originals.reporter.begin("pick the portrait")
        images = {source.shown: (sha256, path) for sha256, (path, source) in known.items()}
        sources = [source for _, source in known.values()]
        unread: dict[str, PalprepError] = {}
        try:
            ranked = pick_best(
                sources, profile=profile, engine=run.engine, passed_over=unread.__setitem__
            )
        except UnsupportedMedia:
            return unreadable
        sha256, path = images[ranked[0].path]
        run.journal.append(PortraitPicked(sha256=sha256), person=person.slug, key=key)
        left_out = [
            f"{images[each][1].name} was not compared: {unread[each].message}" for each in unread
        ]
    others = ", ".join(each.name for each in person.portraits if each != path)
    note = (
        f"{path.name} is the portrait: it is fitter than {others}. For another one, write "
        f'[files] face-image = "…" into {SETTINGS_NAME}'
    )
    return person.with_portrait(path, "it is the fittest of several images"), (note, *left_out)


def files_by_role(person: Person) -> dict[Role, File]:
    """The file of each role. Without a recording the voice is the training video's sound."""
    files = dict(person.sources)
    if Role.VOICE_AUDIO not in files and Role.TRAINING_VIDEO in files:
        files[Role.VOICE_AUDIO] = files[Role.TRAINING_VIDEO]
    return files


def asset_tasks(
    person: Person, into: Path, profile: str, speaker: Speaker | None
) -> list[AssetTask]:
    """What there is to prepare; ``speaker`` is whose consent is listened for."""
    sources = files_by_role(person)
    # Consent is given in a video of its own, or in the opening of the training video.
    apart = Role.CONSENT_VIDEO in sources
    spoken_in = Role.CONSENT_VIDEO if apart else Role.TRAINING_VIDEO
    split = person.settings.split_consent and speaker is not None and not apart
    return [
        AssetTask(
            source=str(source),
            into=str(into / PREPARED_NAME / person.slug / role.value),
            role=role,
            profile=profile,
            speaker=speaker if role is spoken_in else None,
            consent_apart=apart and role is Role.TRAINING_VIDEO,
            split_consent=split and role is spoken_in,
            pictures=str(into / PICTURES_NAME),
        )
        for role, source in sources.items()
    ]


def consent_clip(training: Asset) -> Asset | None:
    """The statement that was split out of a training video, an asset of its own."""
    clip = training.prepared.consent if training.prepared else None
    if clip is None:
        return None
    return Asset(
        role=Role.CONSENT_VIDEO,
        source=training.source,
        source_sha256=training.source_sha256,
        prepared=clip,
        seconds=0.0,
    )


def why_unfit(asset: Asset, besides: Container[str] = ()) -> tuple[str, ...]:
    """Why an asset cannot be used, ``besides`` these checks, one sentence each; empty when it
    can.
    """
    where, report = named(asset), asset.report
    if report.error is not None:
        # Errors about media begin with the name of the file, which is told once.
        bare = report.error.message.removeprefix(f"{Path(asset.source).name} ")
        return (f"{where}{': ' if bare == report.error.message else ' '}{bare}",)
    # Not ``report.told``: what follows from a check among ``besides`` makes the file unfit as well.
    failed = tuple(
        dict.fromkeys(
            f"{where}: {check.message}"
            for check in report.having(Outcome.FAIL)
            if check.id not in besides
        )
    )
    if failed or asset.prepared is not None:
        return failed
    return (f"{where}: {asset.problem or 'It could not be prepared.'}",)
