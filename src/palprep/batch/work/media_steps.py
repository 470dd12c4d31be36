"""The steps that need no service: prepare every file, compare faces, keep dossiers."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from palprep._version import __version__
from palprep.batch.engines.files import Files
from palprep.batch.engines.tasks import AssetTask, compare_faces, prepare_asset, unread, why_unheard
from palprep.batch.fingerprint import stage_key
from palprep.batch.people.person import Person
from palprep.batch.work.assets import (
    asset_tasks,
    consent_clip,
    files_by_role,
    pick_portrait,
    why_unfit,
)
from palprep.batch.work.consent import record_dossier, speaker_of
from palprep.batch.work.decision import Unfit, decide
from palprep.batch.work.memory import reused, still_good
from palprep.batch.work.originals import SOURCES_NAME, FetchSource, Original, Originals, fetch_here
from palprep.batch.work.progress import Reporter
from palprep.batch.work.requests import Profiles, Requests, not_asked_for, profile_for, requests_for
from palprep.errors import MediaError, ToolFailed, UsageError
from palprep.journal import (
    AssetPrepared,
    ConsentWaived,
    FacesCompared,
    Journal,
    PersonOutcome,
    needs_decision,
    refused,
)
from palprep.media import Source
from palprep.pipelines import consent_gate, different_people
from palprep.preflight import Asset, Prepared, at_one_file, for_source, no_parts_left
from palprep.rules import CONSENT_CHECKS, Check
from palprep.values import Role, Value
from palprep.views import PICTURES_NAME
from palprep.workers import Engine

T = TypeVar("T")

R = TypeVar("R")

_SHOWING = (Role.FACE_IMAGE, Role.TRAINING_VIDEO, Role.CONSENT_VIDEO)
"""The roles whose files show a face."""

_NOT_LISTENED = (
    "No video was prepared. Add what is missing and run the same command again; or run with "
    "--without-consent."
)


class Ready(Value):
    """A person's fit files, and what is made of them."""

    prepared: Mapping[Role, Prepared]
    compared: tuple[Check, ...]
    """The faces in them, compared pair by pair."""
    requests: Requests
    not_made: tuple[str, ...] = ()
    """Why the voice or the replica is not made, where the other one is."""
    held: bool = False
    """A doubt about the consent alone keeps that from being made."""
    without_consent: bool = False
    """Consent that is missing or in doubt was waived."""
    notes: tuple[str, ...] = ()
    """What was decided on the way."""


class _Looked(NamedTuple):
    """A task, its source, and what an earlier run made of it if that is still good."""

    task: AssetTask
    original: Original | MediaError
    key: str | None = None
    asset: Asset | None = None


@dataclass(frozen=True)
class MediaSteps:
    """Prepares one person's files, which are then among ``files``. ``without_consent``: consent
    that is missing or in doubt stops nothing, as where a person's settings say so.
    ``keep_sources``: what was fetched stays. ``model``: the folder of the Whisper model that
    listens for consent, None for the one that palprep brings.
    """

    journal: Journal
    engine: Engine
    into: Path
    without_consent: bool
    files: Files
    profiles: Profiles
    keep_sources: bool = False
    model: Path | None = None
    fetch: FetchSource = fetch_here

    def prepare(self, person: Person, reporter: Reporter) -> Ready | PersonOutcome:
        """Every file of the person, prepared, and what is to be made of them; or why the work
        ends here.

        The work ends when nothing can be made, and when files show different people.
        Where no one could listen for the consent to a video, no video is worked on.
        """
        if person.problems:
            return refused(*person.problems)
        place = self.into / SOURCES_NAME / person.slug
        with Originals(self.journal, place, reporter, self.keep_sources, self.fetch) as originals:
            return self._prepare(person, reporter, originals)

    def _prepare(
        self, person: Person, reporter: Reporter, originals: Originals
    ) -> Ready | PersonOutcome:
        held_against = profile_for(person, self.profiles.own)
        picked = pick_portrait(originals, self.engine, person, self.profiles, reporter)
        person, notes = picked.person, picked.notes
        waive = self.without_consent or person.settings.without_consent
        try:
            speaker = speaker_of(person, held_against, self.model)
        except UsageError as error:
            if not waive:
                return refused(error.message, notes=notes)
            speaker, notes = None, (*notes, error.message)
        tasks = asset_tasks(person, self.into, held_against, speaker)
        looked = self._looked_up(tasks, person, originals)
        deaf = None if waive else self._why_unheard(looked, reporter)
        unheard: tuple[str, ...] = ()
        if deaf is not None:
            unheard = (f"Consent cannot be verified: {deaf}", _NOT_LISTENED)
            looked = [each for each in looked if _is_a_recording(each.task, person)]
            if not looked:
                return refused(*unheard, notes=notes)
        assets = self._prepared(looked, person.slug, reporter)
        unfit = {
            role: Unfit(reasons=reasons, report=asset.report)
            for role, asset in assets.items()
            if (reasons := why_unfit(asset, CONSENT_CHECKS))
        }
        gate = consent_gate(assets.get(Role.TRAINING_VIDEO), assets.get(Role.CONSENT_VIDEO))
        waived = gate.against if waive else ()
        if waived:
            self.journal.append(ConsentWaived(why=waived), person=person.slug)
        roles = {*assets, *(task.role for task in tasks)}
        asked = requests_for(person, roles, self.profiles[self.profiles.own].model)
        decision = decide(
            asked,
            unfit,
            missing=unheard or (() if waive else gate.missing),
            doubts=() if waive else gate.doubts,
            voice_from_video=Role.VOICE_AUDIO not in person.sources,
        )
        notes = (*notes, *decision.left_out)
        fit = {
            role: each.prepared
            for role, each in assets.items()
            if each.prepared is not None and role not in unfit
        }
        nothing = decision.requests.nothing
        compared = () if nothing else self._compared(fit, held_against, reporter)
        for asset in assets.values():
            if asset.prepared is not None:
                record_dossier(
                    self.journal,
                    self.into,
                    person.slug,
                    asset.prepared,
                    compared=compared,
                    waived=waived,
                )
        different = different_people(compared)
        if nothing and decision.held:
            return needs_decision(*decision.refused, notes=notes)
        if nothing or different:
            return refused(*decision.refused, *different, notes=notes)
        return Ready(
            prepared=fit,
            compared=compared,
            requests=decision.requests,
            not_made=decision.refused,
            held=decision.held,
            without_consent=waive,
            notes=(*notes, *not_asked_for(asked, fit)),
        )

    def _looked_up(
        self, tasks: Sequence[AssetTask], person: Person, originals: Originals
    ) -> list[_Looked]:
        """The tasks, with their files and what earlier runs made of them."""
        files = files_by_role(person)
        needed = list(dict.fromkeys(files.values()))
        found = dict(zip(needed, _at_once(originals.look_at, needed), strict=True))
        return _at_once(
            lambda task: self._earlier(task, found[files[task.role]], person.slug), tasks
        )

    def _earlier(self, task: AssetTask, original: Original | MediaError, person: str) -> _Looked:
        if isinstance(original, MediaError):
            return _Looked(task, original)
        limits = self.profiles[task.profile].limits
        asked = (task.speaker, task.consent_apart, task.split_consent)
        key = stage_key("prepared", original.sha256, task.role.value, limits, *asked, __version__)
        earlier = reused(
            self.journal,
            AssetPrepared,
            key,
            person,
            lambda found: still_good(found, task, self.files),
        )
        return _Looked(task, original, key, earlier.asset if earlier else None)

    def _why_unheard(self, looked: Sequence[_Looked], reporter: Reporter) -> str | None:
        """What is missing before the consent to a training video can be listened for."""
        if all(each.task.role is not Role.TRAINING_VIDEO for each in looked):
            return None
        for each in looked:
            readable = each.asset is None and isinstance(each.original, Original)
            if readable and each.task.speaker is not None:
                reporter.begin("see whether consent can be listened for")
                return self.engine.run(why_unheard, each.task)
        return None

    def _prepared(
        self, looked: Sequence[_Looked], person: str, reporter: Reporter
    ) -> dict[Role, Asset]:
        left = {each.task.role.value for each in looked if each.asset is None}

        def prepared(each: _Looked) -> Asset:
            if each.asset is not None:
                return each.asset
            asset = self._asset(each, person, reporter)
            left.discard(each.task.role.value)
            if left:
                reporter.tell_step(f"prepare {', '.join(sorted(left))}")
            return asset

        if left:
            reporter.begin(f"prepare {', '.join(sorted(left))}")
        assets = {asset.role: asset for asset in _at_once(prepared, looked)}
        training = assets.get(Role.TRAINING_VIDEO)
        clip = consent_clip(training) if training is not None else None
        if clip is not None:
            assets[clip.role] = clip
            self.journal.append(AssetPrepared(asset=clip), person=person)
        return assets

    def _asset(self, looked: _Looked, person: str, reporter: Reporter) -> Asset:
        reporter.go_on()
        try:
            source = _brought(looked.original)
            with no_parts_left(Path(looked.task.into), self.into / PICTURES_NAME):
                asset = for_source(self.engine, source).run(prepare_asset, looked.task, source)
        except (MediaError, ToolFailed) as error:
            if not at_one_file(error):
                raise
            asset = unread(looked.task, error)
        self.journal.append(AssetPrepared(asset=asset), person=person, key=looked.key)
        return asset

    def _compared(
        self, files: Mapping[Role, Prepared], profile: str, reporter: Reporter
    ) -> tuple[Check, ...]:
        """Whether portrait, training video and consent video show one person, pair by pair."""
        shown = [files[role] for role in _SHOWING if role in files]
        if len(shown) < 2:
            return ()
        key = stage_key("compared", *(each.sha256 for each in shown))
        earlier = reused(self.journal, FacesCompared, key, reporter.person, lambda _: True)
        if earlier is not None:
            return earlier.checks
        reporter.begin("compare faces")
        checks = self.engine.run(compare_faces, tuple(shown), profile)
        self.journal.append(FacesCompared(checks=checks), person=reporter.person, key=key)
        return checks


def _at_once(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """The results of ``work`` for each item, all at once. The threads only wait, for the engine's
    workers or for the disk.
    """
    if len(items) == 1:
        return [work(items[0])]
    with concurrent.futures.ThreadPoolExecutor(max_workers=len(items)) as threads:
        return list(threads.map(work, items))


def _is_a_recording(task: AssetTask, person: Person) -> bool:
    """Whether the task's file is a recording of its own, and not a video's sound."""
    return task.role is Role.VOICE_AUDIO and task.role in person.sources


def _brought(original: Original | MediaError) -> Source:
    if isinstance(original, MediaError):
        raise original
    return original.source
