"""The media loop of one file: probe and judge; then plan, apply, probe and judge again.

Media only; nothing here speaks HTTP. The transform is not trusted: what it wrote is measured
and judged by the same functions as the source, and that report is the one that counts. Modules
that measure and transform are loaded when they are needed.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from palprep import facts, fixes, rules
from palprep.errors import DamagedMedia, FixError, MediaError, UsageError
from palprep.fixes import FixDone, new_output, unproved_in
from palprep.media import sound
from palprep.media.sources import Source
from palprep.preflight.values import CheckRequest, Prepared, infer_role, require_kind
from palprep.rules import Check, Profile, Report, plans
from palprep.rules.consent import CONSENT_CHECKS
from palprep.values import Kind, Outcome, Role
from palprep.vision import PortraitFacts

_LOADING = threading.Lock()


def check_source(request: CheckRequest, source: Source) -> Report:
    """Measure and judge a file.

    Raises MediaError for one that cannot be read, or cannot fill the role.
    """
    if source.type.format == "empty":
        raise DamagedMedia(f"{source.name} is empty: it did not arrive whole, send it again")
    role = request.role or infer_role(source)
    require_kind(source, role)
    if source.type.kind is not Kind.IMAGE:
        # PyAV's modules import each other: of two threads that load it at once, one finds a half.
        with _LOADING:
            _ = sound.probe_audio
    elsewhere = request.consent_apart and role is Role.TRAINING_VIDEO
    # What is beyond the profile's limits fails, whatever it holds.
    duration = rules.audio_duration if role is Role.VOICE_AUDIO else rules.video_duration
    most = partial(request.profile.tightest_maximum, role, level=Outcome.FAIL)
    measured = facts.probe(
        source,
        role,
        max_memory_mb=most(rules.image_memory.id),
        most_s=most(duration.id),
        speaker=None if elsewhere else request.speaker,
        quick=request.quick,
        speakers=request.speakers,
    )
    left_out = CONSENT_CHECKS if elsewhere else ()
    return rules.report_on(source.shown, measured, role, request.profile, left_out=left_out)


class _Made(NamedTuple):
    """A file that was made, the report on it, and what was done."""

    output: Source
    report: Report
    fixes: tuple[FixDone, ...] = ()


class _Work(NamedTuple):
    """A file, and how all that is made of it is judged."""

    source: Source
    before: Report
    request: CheckRequest
    folder: Path
    """Where outputs lie until all of them are proved."""
    said_alike: bool
    """Whether outputs say all that the source says. One that is coded as the source is then judged
    as the source was."""

    def made(
        self, plan: plans.Plan, role: Role | None, progress: Callable[[float], None] | None = None
    ) -> _Made:
        """What a plan makes of the file, measured and judged in that role."""
        stem = Path(tempfile.mkdtemp(dir=self.folder), self.source.stem)
        was = self.before.facts
        known = was.video if was else None
        applied = fixes.apply(plan, self.source, stem, known=known, progress=progress)
        # No fix adds a voice to a recording in which one person speaks: to tell voices apart is
        # most of what a look at one costs.
        voice = was.voice if was else None
        alone = voice.speakers if voice and voice.speakers.several is False else None
        again = self.request._replace(role=role, speakers=alone)
        kept = self.before if applied.coding_kept and self.said_alike else None
        output, report = _proof(applied.path, self.source, again, kept=kept)
        if was and report.facts:
            lasting = _lasting(was, report.facts, plan, applied)
            report = _judged_again(report, self.request.profile, **lasting)
        return _Made(output, report, applied.fixes)


def prepare_source(
    request: CheckRequest,
    source: Source,
    *,
    into: Path,
    split_consent: bool,
    overwrite: bool,
    progress: Callable[[float], None] | None,
) -> Prepared:
    """Fix a file and prove the result: see :func:`~palprep.prepare`.

    Outputs get their names when all of them are proved. Before that, they go with this process.
    """
    profile = request.profile
    apart = request.consent_apart and not split_consent
    _ = source.sha256  # Of what is judged from here on.
    before = check_source(request._replace(consent_apart=apart), source)
    cut, proof = _clips(before, profile, split=split_consent)
    if split_consent:
        before = _judged_again(before, profile, apart=True, statement=None, consent=None)
        request = request._replace(consent_apart=True)

    with unproved_in(into) as folder:
        # A training video may go without the statement that is split out of it.
        work = _Work(source, before, request, folder, said_alike=not split_consent)
        evidence = clip = None
        if proof is not None:
            evidence = work.made(proof, Role.CONSENT_VIDEO)
            # What goes to the service goes without the words of the code.
            speaker = request.speaker and request.speaker.model_copy(update={"code": None})
            request = request._replace(speaker=speaker)
            work = work._replace(request=request, said_alike=False)
        best = _best(work, progress, with_all=evidence is not None)
        if cut is not None:
            clip = work.made(cut, Role.CONSENT_VIDEO)
        copied = best.output is source
        if copied:
            best = _copied(work, best)
        source.require_same(best.output if copied and not (evidence or clip) else None)

        place = partial(_placed, work, overwrite=overwrite)
        kept = place(evidence, into / f"{source.stem}-code") if evidence else None
        prepared = place(best, into / source.stem)
        if clip is None:
            return _with_evidence(prepared, kept, profile)
        consent = _with_evidence(place(clip, into / f"{source.stem}-consent"), kept, profile)
        return prepared.model_copy(update={"consent": consent})


def _placed(work: _Work, made: _Made, stem: Path, *, overwrite: bool) -> Prepared:
    """What was made under its name, which is ``stem`` and its suffix where that is free."""
    source, path = work.source, made.output.path
    voice = work.before.facts.voice if work.before.facts else None
    ready = Prepared(
        source=source.shown,
        source_sha256=source.sha256,
        path=path,
        report=made.report,
        fixes=made.fixes,
        sha256=made.output.sha256,
        source_voice=voice if made.fixes and work.before.role is Role.VOICE_AUDIO else None,
    )
    with new_output(stem, path.suffix, source=source.path, overwrite=overwrite) as output:
        path.replace(output.temporary)
    return ready.relocated(lambda _: output.path)


_OPEN = (Outcome.FAIL, Outcome.WARN)


def _lost(before: Report, after: Report) -> tuple[Check, ...]:
    """The checks of a fixed file that come out worse than those of its source."""
    was = {check.id: check.outcome for check in before.checks}
    worse = {Outcome.PASS: (Outcome.WARN, Outcome.FAIL), Outcome.WARN: (Outcome.FAIL,)}
    return tuple(
        check
        for check in after.checks
        if check.id in was and check.outcome in worse.get(was[check.id], ())
    )


def _best(work: _Work, progress: Callable[[float], None] | None, *, with_all: bool) -> _Made:
    """The best output of the whole fix, of a part of it, or the source itself; a last note tells
    what was left out. ``with_all`` leaves nothing out.

    Best is where the fewest checks fail that did not before; then where the fewest fail, warn, and
    come out worse.
    """
    before, own = work.before, _Made(work.source, work.before)
    plan = plans.plan(before, work.request.profile)
    if plan is None:
        return own
    whole = work.made(plan, before.role, progress)
    finer = plans.levelled_anew(plan, whole.report, work.request.profile)
    if finer is not None:
        again = work.made(finer, before.role)
        if len(again.report.told(*_OPEN)) < len(whole.report.told(*_OPEN)):
            plan, whole = finer, again
    worse = _lost(before, whole.report)
    if with_all or not worse:
        return whole
    ways: list[tuple[tuple[str, ...], _Made]] = [((), whole)]
    ways += [(out, work.made(less, before.role)) for out, less in plans.with_less(plan)]
    ways.append((tuple(each.fix for each in plan.reasons), own))

    def rank(way: tuple[tuple[str, ...], _Made]) -> tuple[int, ...]:
        judged = way[1].report
        lost = _lost(before, judged)
        failing = sum(check.outcome is Outcome.FAIL for check in lost)
        return failing, len(judged.failed), len(judged.having(Outcome.WARN)), len(lost)

    out, best = min(ways, key=rank)
    if not out:
        return whole
    labels = ", ".join(check.label for check in worse)
    did = f"left out {', '.join(out)}: it would have made this worse: {labels}"
    return best._replace(fixes=(*best.fixes, FixDone(id="left_out", did=did)))


_LASTING = ("saturated", "clipped_highlights", "clipped_shadows", "noise", "blocking")
"""Measures of an image, less is better, that no fix mends, though it can hide them."""


def _lasting(
    before: facts.Facts, after: facts.Facts, planned: plans.Plan, applied: fixes.Applied
) -> dict[str, Any]:
    """The facts to change of an output, since the fix only hides a defect of its source."""
    changed: dict[str, Any] = {}
    selected = isinstance(planned, plans.VoicePlan) and bool(planned.spans)
    # Sound before the first picture is left out of the whole, too.
    trimmed = any(reason.fix == "trim" for reason in planned.reasons)
    if isinstance(planned, plans.ImagePlan) and before.portrait and after.portrait:
        changed["portrait"] = _lasting_portrait(before.portrait, after.portrait)
    if before.voice and after.voice and not trimmed:
        known, holes = applied.clipped_runs, after.voice.dropouts
        runs = before.voice.clipped_runs if known is None else known
        update: dict[str, Any] = {}
        if before.voice.dropouts is None:  # The steps of 8 bits stay, at whatever level.
            holes = None
            noise = ("snr_db", "noise_after_gain_dbfs")
            update = {name: getattr(before.voice, name) for name in noise}
        elif not selected:
            holes = max(before.voice.dropouts, holes or (), key=len)
        update |= {"clipped_runs": max(runs, after.voice.clipped_runs), "dropouts": holes}
        changed["voice"] = after.voice.model_copy(update=update)
    if before.audio and after.recording and not selected:
        cut_off = before.audio.truncated or after.recording.truncated
        changed["recording"] = after.recording.model_copy(update={"truncated": cut_off})
    if before.video and after.video:
        trim = planned.trim if isinstance(planned, plans.VideoPlan) else None
        line, timing, was = before.timeline, after.video.timing, before.video.timing
        # What was lost is missing at the end.
        to_end = not (trim and line and trim.end_s < round(line.duration_s, 3))
        cut_off = (to_end and before.video.truncated) or after.video.truncated
        # At a variable rate frames are not missing.
        if timing and was and before.video.frame_rate_constant and not trimmed:
            dropped = max(timing.dropped_frames, was.dropped_frames)
            timing = timing.model_copy(update={"dropped_frames": dropped})
        changed["video"] = after.video.model_copy(update={"timing": timing, "truncated": cut_off})
    return changed


def _lasting_portrait(before: PortraitFacts, after: PortraitFacts) -> PortraitFacts:
    old, new = before.quality, after.quality
    both = {name: (getattr(old, name), getattr(new, name)) for name in _LASTING}
    worst = {
        name: max((x for x in two if x is not None), default=None) for name, two in both.items()
    }
    return after.model_copy(update={"quality": new.model_copy(update=worst)})


def _clips(
    report: Report, profile: Profile, *, split: bool
) -> tuple[plans.VideoPlan | None, plans.VideoPlan | None]:
    """The plan for the statement alone, where it is ``split`` out of a training video; and that for
    what shows that a fresh code was heard, where it will be cut from a consent video.

    Raises UsageError for what is no training video to split, FixError where no statement was heard.
    """
    if split and (report.role is not Role.TRAINING_VIDEO or report.facts is None):
        raise UsageError(f"{report.path} is no training video to split the consent out of")
    if report.facts is None or not (split or report.role is Role.CONSENT_VIDEO):
        return None, None
    as_clip = _judged_again(report, profile, role=Role.CONSENT_VIDEO)
    cut = plans.plan_consent_clip(as_clip, report.facts, profile)
    if split and cut is None:
        consent = report.facts.consent
        why = " ".join(consent.reasons) if consent else "It has no audio."
        why = why or "Its picture ends before it does, or cannot be converted."
        raise FixError(f"There is no consent in {Path(report.path).name} to split out. {why}")
    proof = plans.plan_consent_clip(as_clip, report.facts, profile, with_code=True)
    return (cut if split else None), proof


def _with_evidence(prepared: Prepared, evidence: Prepared | None, profile: Profile) -> Prepared:
    """A video whose code was cut out, judged with the code as it is heard in the ``evidence``."""
    found, heard = prepared.report.facts, evidence and evidence.report.facts
    if evidence is None or found is None or found.statement is None or not heard:
        return prepared
    code = heard.consent and heard.consent.code
    kept = code and code.model_copy(update={"kept_in": evidence.path.name})
    statement = found.statement.model_copy(update={"code": kept})
    report = _judged_again(prepared.report, profile, statement=statement)
    return prepared.model_copy(update={"report": report, "evidence": evidence})


def _judged_again(
    report: Report,
    profile: Profile,
    *,
    role: Role | None = None,
    apart: bool = False,
    **changed: object,
) -> Report:
    """The same file judged in another role, or with other facts."""
    judged_as = role or report.role
    if report.facts is None or judged_as is None:
        return report
    found: facts.Facts = report.facts.model_copy(update=changed)
    left_out = CONSENT_CHECKS if apart else report.left_out
    return rules.report_on(report.path, found, judged_as, profile, left_out=left_out)


def _proof(
    written: str, source: Source, request: CheckRequest, *, kept: Report | None
) -> tuple[Source, Report]:
    """What a fix wrote, and the report on it. FixError for what cannot be read back.

    ``kept`` is the report on the source, where the output should show and play the same.
    """
    try:
        output = Source.of(written)
        known = kept and kept.facts and facts.coded_alike(kept.facts, source, output)
        if kept and known:
            return output, _judged_again(kept.model_copy(update={"facts": known}), request.profile)
        return output, check_source(request, output)
    except MediaError as error:
        raise FixError(
            f"The fix of {source.name} failed: what it wrote could not be read back, and was "
            f"removed ({error.message}). The source is as it was: export it again, in another "
            "format"
        ) from None


def _copied(work: _Work, made: _Made) -> _Made:
    """The source as a copy under an extension of its content; to change the extension is a fix."""
    source = work.source
    suffix, extensions = Path(source.shown).suffix.lower(), source.type.extensions
    renamed = suffix not in extensions
    extension = extensions[0] if renamed else suffix
    with new_output(work.folder / source.stem, extension, source=source.path) as copy:
        shutil.copyfile(source.path, copy.temporary)
    # Of the same bytes only what follows from the name is new.
    file = made.report.facts and made.report.facts.file.model_copy(update={"name": copy.path.name})
    report = _judged_again(made.report, work.request.profile, file=file)
    did = f"copied under the extension of its content, {extension}"
    done = (FixDone(id="rename", did=did),) if renamed else ()
    return _Made(Source.of(copy.path), report, (*done, *made.fixes))
