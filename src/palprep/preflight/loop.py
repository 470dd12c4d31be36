"""The media loop of one file: probe and judge; then plan, apply, probe and judge again.

Media only; nothing here speaks HTTP. The transform is not trusted: what it wrote is measured
and judged by the same functions as the source, and that report is the one that counts. What
measures and transforms is loaded when it is asked for.
"""

from __future__ import annotations

import itertools
import shutil
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
    output: Source
    report: Report
    fixes: tuple[FixDone, ...]


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

    What is made gets its name when all of it is proved: before, it goes with this process.
    """
    profile = request.profile
    apart = request.consent_apart and not split_consent
    _ = source.sha256  # Of what is judged from here on.
    before = check_source(request._replace(consent_apart=apart), source)
    cut, proof = _clips(before, profile, split=split_consent)
    if split_consent:
        before = _judged_again(before, profile, apart=True, statement=None, consent=None)
        request = request._replace(consent_apart=True)
    fix = plans.plan(before, profile)
    best = evidence = clip = None
    voice = before.facts.voice if before.facts else None
    said: tuple[FixDone, ...] = ()

    def placed(made: _Made, stem: str) -> Prepared:
        path, own = made.output.path, source.path
        ready = Prepared(
            source=source.shown,
            source_sha256=source.sha256,
            path=path,
            report=made.report,
            fixes=made.fixes,
            sha256=made.output.sha256,
            source_voice=voice if made.fixes and before.role is Role.VOICE_AUDIO else None,
        )
        with new_output(into / stem, path.suffix, source=own, overwrite=overwrite) as output:
            path.replace(output.temporary)
        return ready.relocated(lambda _: output.path)

    with unproved_in(into) as unproved:
        count = itertools.count()

        def made(
            planned: plans.Plan, role: Role | None, progress: Callable[[float], None] | None = None
        ) -> _Made:
            stem = unproved / f"{source.stem}-{next(count)}"
            known = before.facts.video if before.facts else None
            applied = fixes.apply(planned, source, stem, known=known, progress=progress)
            # No fix adds a voice to a recording in which one person speaks: to tell voices apart is
            # most of what a look at one costs.
            alone = voice.speakers if voice and voice.speakers.several is False else None
            again = request._replace(role=role, speakers=alone)
            # The clip goes without the words of the code, and a training video may without consent.
            same = applied.coding_kept and evidence is None and not split_consent
            output, report = _proof(applied.path, source, again, kept=before if same else None)
            if before.facts and report.facts:
                lasting = _lasting(before.facts, report.facts, planned, applied)
                report = _judged_again(report, profile, **lasting)
            return _Made(output, report, applied.fixes)

        if proof is not None:
            evidence = made(proof, Role.CONSENT_VIDEO)
            speaker = request.speaker and request.speaker.model_copy(update={"code": None})
            request = request._replace(speaker=speaker)
        if fix is not None:
            best = made(fix, before.role, progress)
            if evidence is None and _lost(before, best.report):
                best, said = _least_lost(before, fix, best, lambda less: made(less, before.role))
        if cut is not None:
            clip = made(cut, Role.CONSENT_VIDEO)
        encoded = best or evidence or clip
        best = best or _copied(source, before, unproved, profile)
        source.require_same(None if encoded else best.output)
        kept = placed(evidence, f"{source.stem}-code") if evidence else None
        prepared = placed(best._replace(fixes=(*best.fixes, *said)), source.stem)
        if clip is None:
            return _with_evidence(prepared, kept, profile)
        consent = _with_evidence(placed(clip, f"{source.stem}-consent"), kept, profile)
        return prepared.model_copy(update={"consent": consent})


def _lost(before: Report, after: Report) -> tuple[Check, ...]:
    """The checks of a fixed file that come out worse than those of its source."""
    was = {check.id: check.outcome for check in before.checks}
    worse = {Outcome.PASS: (Outcome.WARN, Outcome.FAIL), Outcome.WARN: (Outcome.FAIL,)}
    return tuple(
        check
        for check in after.checks
        if check.id in was and check.outcome in worse.get(was[check.id], ())
    )


def _least_lost(
    before: Report, planned: plans.Plan, whole: _Made, made: Callable[[plans.Plan], _Made]
) -> tuple[_Made | None, tuple[FixDone, ...]]:
    """What the fix made that comes out best, and what is told of the steps that it leaves out; none
    where the source itself comes out best. ``whole`` is what the whole plan led to.

    No check may fail that did not. Then as few as can be fail, warn, and are worse than before.
    """
    ways: list[tuple[tuple[str, ...], _Made | None]] = [((), whole)]
    ways += [(out, made(less)) for out, less in plans.with_less(planned)]
    ways.append((tuple(each.fix for each in planned.reasons), None))

    def rank(way: tuple[tuple[str, ...], _Made | None]) -> tuple[int, ...]:
        judged = way[1].report if way[1] else before
        lost = _lost(before, judged)
        failing = sum(check.outcome is Outcome.FAIL for check in lost)
        return failing, len(judged.failed), len(judged.having(Outcome.WARN)), len(lost)

    out, best = min(ways, key=rank)
    if not out:
        return whole, ()
    labels = ", ".join(check.label for check in _lost(before, whole.report))
    did = f"left out {', '.join(out)}: it would have made this worse: {labels}"
    return best, (FixDone(id="left_out", did=did),)


_LASTING = ("saturated", "clipped_highlights", "clipped_shadows", "noise", "blocking")
"""Measures of an image, less is better, that no fix mends, though it can hide them."""


def _lasting(
    before: facts.Facts, after: facts.Facts, planned: plans.Plan, applied: fixes.Applied
) -> dict[str, Any]:
    """The facts of an output that are others where its source has a defect that the fix hides."""
    changed: dict[str, Any] = {}
    if isinstance(planned, plans.ImagePlan) and before.portrait and after.portrait:
        old, new = before.portrait.quality, after.portrait.quality
        both = {name: (getattr(old, name), getattr(new, name)) for name in _LASTING}
        worst = {
            name: max((x for x in two if x is not None), default=None) for name, two in both.items()
        }
        quality = new.model_copy(update=worst)
        changed["portrait"] = after.portrait.model_copy(update={"quality": quality})
    trim = planned.trim if isinstance(planned, plans.VideoPlan) else None
    # Sound before the first picture is left out of the whole, too.
    trimmed = any(reason.fix == "trim" for reason in planned.reasons)
    line = before.timeline
    to_end = not (trim and line and trim.end_s < round(line.duration_s, 3))
    if before.voice and after.voice and not trimmed:
        chosen = isinstance(planned, plans.VoicePlan) and planned.spans
        voice, holes = before.voice, () if chosen else before.voice.dropouts
        runs = voice.clipped_runs if applied.clipped_runs is None else applied.clipped_runs
        changed["voice"] = after.voice.model_copy(
            update={
                "clipped_runs": max(runs, after.voice.clipped_runs),
                "dropouts": max(holes, after.voice.dropouts, key=len),
            }
        )
    if before.video and after.video:
        timing, was = after.video.timing, before.video.timing
        # At a variable rate frames are not missing.
        if timing and was and before.video.frame_rate_constant and not trimmed:
            dropped = max(timing.dropped_frames, was.dropped_frames)
            timing = timing.model_copy(update={"dropped_frames": dropped})
        # What was lost comes after all that is left.
        cut_off = (to_end and before.video.truncated) or after.video.truncated
        changed["video"] = after.video.model_copy(update={"timing": timing, "truncated": cut_off})
    return changed


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
            holds = kept.model_copy(update={"facts": known})
            return output, _judged_again(holds, request.profile)
        return output, check_source(request, output)
    except MediaError as error:
        raise FixError(
            f"The fix of {source.name} failed: what it wrote could not be read back, and was "
            f"removed ({error.message}). The source is as it was: export it again, in another "
            "format"
        ) from None


def _copied(source: Source, before: Report, into: Path, profile: Profile) -> _Made:
    """A copy under an extension of its content; to change the extension is a fix."""
    suffix, extensions = Path(source.shown).suffix.lower(), source.type.extensions
    renamed = suffix not in extensions
    extension = extensions[0] if renamed else suffix
    with new_output(into / source.stem, extension, source=source.path) as copy:
        shutil.copyfile(source.path, copy.temporary)
    # Of the same bytes only what follows from the name is new.
    file = before.facts and before.facts.file.model_copy(update={"name": copy.path.name})
    report = _judged_again(before, profile, file=file)
    did = f"copied under the extension of its content, {extension}"
    done = (FixDone(id="rename", did=did),) if renamed else ()
    return _Made(Source.of(copy.path), report, done)
