"""The steps that need no service: prepare every file, compare people, keep dossiers."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from palprep._version import __version__
from palprep.batch.engines.tasks import AssetTask, compare_people, prepare_asset, why_unheard
from palprep.batch.people.files import File, stage_key
from palprep.batch.people.person import LISTENED_TO, Person
from palprep.batch.work import decision as decisions
from palprep.batch.work.consent import speaker_of
from palprep.batch.work.context import PREPARED_NAME, Reporter, RunContext
from palprep.batch.work.memory import still_good
from palprep.batch.work.originals import Original, Originals
from palprep.batch.work.roles import against_consent, settle_roles
from palprep.errors import MediaError, ToolFailed, UsageError
from palprep.facts import Speaker
from palprep.journal import asked_code, note_code
from palprep.journal.entries import AssetPrepared, FacesCompared
from palprep.journal.runs import PersonOutcome
from palprep.pipelines import ConsentGate, consent_evidence, named
from palprep.preflight import Asset, Prepared, at_one_file, no_parts_left, run_in
from palprep.rules import Check, Profile, Report
from palprep.rules.consent import (
    CONSENT_CHECKS,
    ConsentEvidence,
    ConsentState,
    consent_not_taken_back,
    not_taken_back,
)
from palprep.values import Outcome, Role
from palprep.views.drawings import PICTURES_NAME

T = TypeVar("T")

R = TypeVar("R")

_ONE_FACE = frozenset({"face_seen_throughout", "one_person_throughout", "same_person_throughout"})
"""What must not fail of a video whose one face is compared, though it is not fit."""

_NOT_LISTENED = (
    "No video was prepared. Add what is missing and run the same command again; or run with "
    "--without-consent."
)


class Ready(NamedTuple):
    """A person's fit files, what is made of them, and the outcome so far. Where the consent holds,
    ``consent`` tells whether it still does."""

    prepared: Mapping[Role, Prepared]
    requests: decisions.Requests
    so_far: PersonOutcome
    consent: Callable[[], ConsentState] | None = None


class _FileTask(NamedTuple):
    """A task, its source, and the asset of an earlier run, if that is still good."""

    task: AssetTask
    original: Original | MediaError
    key: str | None = None
    asset: Asset | None = None


class _Judged(NamedTuple):
    """A person's prepared files, and what speaks against using them."""

    prepared: Mapping[Role, Prepared]
    unfit: Mapping[Role, decisions.Unfit]
    compared: tuple[Check, ...]
    evidence: ConsentEvidence

    @property
    def fit(self) -> Mapping[Role, Prepared]:
        return {role: each for role, each in self.prepared.items() if role not in self.unfit}

    @property
    def apart(self) -> tuple[Check, ...]:
        """The checks that say that files show or hold different people."""
        return tuple(check for check in self.compared if check.outcome is Outcome.FAIL)


def prepare_files(run: RunContext, person: Person, reporter: Reporter) -> Ready | PersonOutcome:
    """Every file of the person, prepared, and what is to be made of them; or the outcome, where the
    work ends here: nothing can be made, something about the person is unclear, or files show
    different people. That outcome tells everything that could be checked. Where no one can listen
    for the consent to a video, no video is worked on."""
    if person.problems and not (person.files or person.unread):
        return PersonOutcome.needs_answer(*person.problems, blocked_by=("folder_empty",))
    originals = Originals(run, reporter)
    try:
        person, notes = settle_roles(originals, person)
        steps = MediaSteps(run, person, run.profile_of(person), originals, reporter)
        return steps.carry_out((*notes, *person.overlooked))
    finally:
        originals.remove()


@dataclass(frozen=True)
class MediaSteps:
    """Prepares one person's files, and judges them by this profile."""

    run: RunContext
    person: Person
    profile: Profile
    originals: Originals
    reporter: Reporter

    def carry_out(self, notes: tuple[str, ...]) -> Ready | PersonOutcome:
        """Take all steps. The last is the gate of consent. ``notes`` begin those of the outcome."""
        person = self.person
        problems, speaker = person.problems, None
        try:
            speaker = speaker_of(person, self.run.options.whisper_model)
        except UsageError as error:
            problems = problems if self._waived else (*problems, error.message)
            notes = (*notes, error.message) if self._waived else notes
        files = dict(person.sources)
        if Role.VOICE_AUDIO not in files and Role.TRAINING_VIDEO in files:
            # Without a recording the voice is the training video's sound.
            files[Role.VOICE_AUDIO] = files[Role.TRAINING_VIDEO]
        tasks = self._tasks(files, speaker)
        lacking = None if self._waived else self._why_unheard(tasks)
        unheard: tuple[str, ...] = ()
        if lacking is not None:
            unheard = (f"Consent cannot be verified: {lacking}", _NOT_LISTENED)
            videos = {files[role] for role in LISTENED_TO if role in files}
            tasks = [each for each in tasks if files[each.task.role] not in videos]
            if not tasks:
                blocked_by = ("cannot_listen",)
                return PersonOutcome.needs_answer(*unheard, blocked_by=blocked_by, notes=notes)
        assets = self._prepared(tasks)
        judged = self._judged(assets, unheard, speaker)
        if problems:
            reasons = decisions.reasons_of(judged.unfit, judged.unfit, judged.evidence.against)
            unclear = "settings_unread" if person.unread else "folder_unclear"
            apart = (check.id for check in judged.apart)
            return PersonOutcome.needs_answer(
                *problems,
                *reasons,
                blocked_by=(unclear, *apart, *decisions.ids_of(judged.unfit, judged.unfit)),
                notes=notes,
                asked=person.asked,
            )
        asked = decisions.requests_for(person, {*assets, *files}, self.profile.model)
        return self._decided(judged, asked, notes)

    @property
    def _waived(self) -> bool:
        """Whether the run or the person's settings waive the consent."""
        return self.run.options.without_consent or self.person.settings.without_consent

    def _judged(
        self, assets: Mapping[Role, Asset], unheard: tuple[str, ...], speaker: Speaker | None
    ) -> _Judged:
        """The files of these assets, judged. ``unheard`` says why nobody could listen to them."""
        unfit = {
            role: found for role, asset in assets.items() if (found := _unfit(asset)) is not None
        }
        prepared = {role: each.prepared for role, each in assets.items() if each.prepared}
        compared = self._compared(
            {
                role: each
                for role, each in prepared.items()
                if role not in unfit
                or (role in LISTENED_TO and _ONE_FACE.isdisjoint(unfit[role].ids))
            }
        )
        if speaker is not None and not unheard:
            compared += self._taken_back(prepared, speaker)
        recorded = assets.get(Role.VOICE_AUDIO) if Role.VOICE_AUDIO in self.person.sources else None
        filmed = assets.get(Role.TRAINING_VIDEO), assets.get(Role.CONSENT_VIDEO)
        evidence = consent_evidence(*filmed, compared, recorded)
        if unheard:
            evidence = evidence.model_copy(update={"missing": unheard})
        return _Judged(prepared, unfit, compared, evidence)

    def _decided(
        self, judged: _Judged, asked: decisions.Requests, notes: tuple[str, ...]
    ) -> Ready | PersonOutcome:
        """What is made of the requests ``asked``, by the files and by the consent."""
        run, person = self.run, self.person
        files = tuple(judged.prepared.values())
        gate = ConsentGate(run.journal, person.slug, files, judged.evidence, self._waived)
        consent = gate.settle(judged.compared)
        voice_from_video = Role.VOICE_AUDIO not in person.sources
        requests, so_far = decisions.decide(
            asked, judged.unfit, consent, judged.apart, voice_from_video=voice_from_video
        )
        notes += so_far.notes
        if consent.state not in {"holds", "open"}:
            # What was made of these files while the consent held, or without it.
            sources = {each.source_sha256 for each in consent.evidence.files}
            notes += run.still_there(
                person.slug,
                lambda each: not sources.isdisjoint(each.request.get("sources", {}).values()),
            )
        if requests:
            # Lines that have room for one reason show the first: why there is no replica.
            notes = (*decisions.not_asked_for(asked, judged.fit), *notes)
        so_far = so_far.model_copy(update={"notes": notes})
        if not requests:
            return so_far
        still = gate.now if consent.state == "holds" else None
        return Ready(judged.fit, requests, so_far, still)

    def _tasks(self, files: Mapping[Role, File], speaker: Speaker | None) -> list[_FileTask]:
        """The tasks to prepare these files, with what earlier runs made of them. The consent of the
        ``speaker`` is listened for."""
        # Consent is given in a video of its own, or in the opening of the training video.
        apart = Role.CONSENT_VIDEO in files
        spoken_in = Role.CONSENT_VIDEO if apart else Role.TRAINING_VIDEO
        split = self.person.settings.split_consent and speaker is not None and not apart
        place = self.run.place
        tasks = [
            AssetTask(
                source=str(file),
                into=str(place / PREPARED_NAME / self.person.slug / role.value),
                role=role,
                profile=self.profile,
                speaker=speaker if role is spoken_in else None,
                consent_apart=apart and role is Role.TRAINING_VIDEO,
                split_consent=split and role is spoken_in,
                pictures=str(place / PICTURES_NAME),
            )
            for role, file in files.items()
        ]
        needed = list(dict.fromkeys(files.values()))
        found = dict(zip(needed, _at_once(self.originals.look_at, needed), strict=True))
        return _at_once(lambda task: self._earlier(task, found[files[task.role]]), tasks)

    def _earlier(self, task: AssetTask, original: Original | MediaError) -> _FileTask:
        if isinstance(original, MediaError):
            return _FileTask(task, original)
        run, sha256 = self.run, original.sha256
        if (speaker := task.speaker) is not None:
            who, name = (speaker.full_name, speaker.spoken_as), Path(task.source).name
            code = asked_code(run.journal, *who, name=name, sha256=sha256)
            speaker = speaker.model_copy(update={"code": code})
            task = task.model_copy(update={"speaker": speaker})
        asked = (speaker, task.consent_apart, task.split_consent)
        limits = self.profile.model_dump_json()
        content = f"{AssetPrepared.KEY}{sha256}"
        key = stage_key(content, task.role.value, limits, *asked, __version__)
        earlier = run.journal.reused(
            AssetPrepared, key, self.person.slug, lambda found: still_good(found, task, run.files)
        )
        return _FileTask(task, original, key, earlier.asset if earlier else None)

    def _why_unheard(self, tasks: Sequence[_FileTask]) -> str | None:
        """What is missing for listening, where a training video is to be listened to."""
        if all(each.task.role is not Role.TRAINING_VIDEO for each in tasks):
            return None
        for each in tasks:
            readable = each.asset is None and isinstance(each.original, Original)
            if readable and each.task.speaker is not None:
                self.reporter.begin("see whether consent can be listened for")
                return self.run.engine.run(why_unheard, each.task)
        return None

    def _prepared(self, tasks: Sequence[_FileTask]) -> dict[Role, Asset]:
        left = {each.task.role.value for each in tasks if each.asset is None}

        def prepared(each: _FileTask) -> Asset:
            if each.asset is not None:
                return each.asset
            asset = self._asset(each)
            left.discard(each.task.role.value)
            if left:
                self.reporter.tell_step(f"prepare {', '.join(sorted(left))}")
            return asset

        if left:
            self.reporter.begin(f"prepare {', '.join(sorted(left))}")
        assets = {asset.role: asset for asset in _at_once(prepared, tasks)}
        training = assets.get(Role.TRAINING_VIDEO)
        if training is not None and training.prepared and (clip := training.prepared.consent):
            # The statement that was split out is an asset of its own.
            own = {"role": Role.CONSENT_VIDEO, "prepared": clip, "seconds": 0.0}
            assets[Role.CONSENT_VIDEO] = training.model_copy(update=own)
            body = AssetPrepared(asset=assets[Role.CONSENT_VIDEO])
            self.run.journal.append(body, person=self.person.slug)
        return assets

    def _asset(self, each: _FileTask) -> Asset:
        self.reporter.go_on()
        run, task = self.run, each.task
        try:
            if isinstance(each.original, MediaError):
                raise each.original
            source = each.original.source
            with no_parts_left(Path(task.into), run.place / PICTURES_NAME):
                asset = run_in(run.engine, prepare_asset, task, source)
        except (MediaError, ToolFailed) as error:
            if not at_one_file(error):
                raise
            report = Report.of_error(task.source, error, role=task.role, profile=self.profile.name)
            asset = Asset(
                role=task.role,
                source=task.source,
                source_sha256=None,
                source_report=report,
                seconds=0.0,
            )
        run.journal.append(AssetPrepared(asset=asset), person=self.person.slug, key=each.key)
        if (heard := asset.report.consent) is not None and asset.source_sha256 is not None:
            name = Path(task.source).name
            note_code(run.journal, heard, name=name, sha256=asset.source_sha256)
        return asset

    def _compared(self, files: Mapping[Role, Prepared]) -> tuple[Check, ...]:
        """Whether portrait, videos and recording show and hold one person, pair by pair."""
        # Not a recording that is the training video's own sound.
        own = {*self.person.sources, Role.CONSENT_VIDEO}
        shown = [files[role] for role in Role if role in files and role in own]
        if len(shown) < 2 or files.keys().isdisjoint(LISTENED_TO):
            return ()
        limits = self.profile.model_dump_json(include={"pairs"})
        key = stage_key("pairs", *(each.sha256 for each in shown), limits, __version__)
        journal, person = self.run.journal, self.person.slug
        earlier = journal.reused(FacesCompared, key, person)
        if earlier is not None:
            return earlier.checks
        self.reporter.begin("compare faces and voices")
        checks = self.run.engine.run(compare_people, tuple(shown), self.profile)
        journal.append(FacesCompared(checks=checks), person=person, key=key)
        return checks

    def _taken_back(self, prepared: Mapping[Role, Prepared], speaker: Speaker) -> tuple[Check, ...]:
        """What other recordings of the person say against a consent to these files."""
        limits = self.profile.pairs.get(consent_not_taken_back.id, ())
        videos = tuple(prepared[role].sha256 for role in LISTENED_TO if role in prepared)
        if not videos or not limits:
            return ()  # Nothing is listened to that no profile asks about.
        found = against_consent(self.originals, self.person, speaker)
        return tuple(not_taken_back(each, said, videos, limits) for each, said in found)


def _at_once(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """The results of ``work`` for each item, in a thread each. The threads only wait, for the
    engine's workers or for the disk."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=len(items) or 1) as threads:
        return list(threads.map(work, items))


def _unfit(asset: Asset) -> decisions.Unfit | None:
    """Why an asset cannot be used, its consent aside; None where it can."""
    where, report = named(asset), asset.report
    # Not ``report.told``: what follows from a check of consent makes the file unfit as well.
    failed = [check for check in report.having(Outcome.FAIL) if check.id not in CONSENT_CHECKS]
    reasons: Iterable[str]
    if report.error is not None:
        # Errors about media begin with the name of the file, which is told once.
        bare = report.error.message.removeprefix(f"{Path(asset.source).name} ")
        reasons = (f"{where}{': ' if bare == report.error.message else ' '}{bare}",)
        ids: tuple[str, ...] = (report.error.code,)
    elif failed:
        told = (each for each in failed if each.follows in {None, *CONSENT_CHECKS})
        reasons = dict.fromkeys(f"{where}: {check.message}" for check in told)
        ids = tuple(check.id for check in failed)
    elif asset.prepared is None:
        reasons = (f"{where}: {asset.problem or 'It could not be prepared.'}",)
        ids = ("not_prepared",)
    else:
        return None
    return decisions.Unfit(reasons=tuple(reasons), report=report, ids=ids)
