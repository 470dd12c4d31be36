"""The media loop of one file: probe and judge; then plan, apply, probe and judge again.

Media only; nothing here speaks HTTP. The transform is not trusted: what it wrote is measured
and judged by the same functions as the source, and that report is the one that counts. What
measures and transforms is loaded when it is asked for.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Container
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palprep import facts, fixes, media, rules
from palprep.errors import FixError, MediaError, UsageError
from palprep.fixes import FixDone, new_output, stem_of_a_part
from palprep.media import Source
from palprep.preflight.values import CheckRequest, Prepared, infer_role, require_kind
from palprep.rules import CONSENT_CHECKS, Check, Profile, Report, plans
from palprep.values import Kind, Outcome, Role

if TYPE_CHECKING:
    from palprep.facts import Facts
    from palprep.rules.plans import Plan, VideoPlan
    from palprep.speech import SpeakerFacts

_LOADING = threading.Lock()


def check_source(request: CheckRequest, source: Source) -> Report:
    """Measure and judge a file.

    Raises MediaError for one that cannot be read, or cannot fill the role.
    """
    role = request.role or infer_role(source)
    require_kind(source, role)
    if source.type.kind is not Kind.IMAGE:
        _load_decoders()
    elsewhere = request.consent_apart and role is Role.TRAINING_VIDEO
    measured = facts.probe(
        source,
        role,
        limits=probe_limits(request.profile, role),
        speaker=None if elsewhere else request.speaker,
        quick=request.quick,
        speakers=request.speakers,
    )
    left_out = CONSENT_CHECKS if elsewhere else ()
    return rules.report_on(source.shown, measured, role, request.profile, left_out=left_out)


def _load_decoders() -> None:
    """Load PyAV, one thread at a time: its modules import each other, and of two threads that load
    it at once one would find a half of it."""
    with _LOADING:
        _ = media.probe_audio


def probe_limits(profile: Profile, role: Role) -> facts.ProbeLimits:
    """How far a file is read: what is beyond the profile's limits fails, whatever it holds."""
    duration = rules.audio_duration if role is Role.VOICE_AUDIO else rules.video_duration
    return facts.ProbeLimits(
        image_memory_mb=profile.tightest_maximum(role, rules.image_memory.id, Outcome.FAIL),
        duration_s=profile.tightest_maximum(role, duration.id, Outcome.FAIL),
    )


def prepare_source(
    request: CheckRequest,
    source: Source,
    *,
    into: Path,
    split_consent: bool,
    overwrite: bool,
    wrote: Callable[[str], object],
    progress: Callable[[float], None] | None,
) -> Prepared:
    """Fix a file and prove the result: see :func:`~palprep.prepare`.

    ``wrote`` hears of each file that a fix has written, before it is proved: it can then be removed
    if this process ends at the proof.
    """
    profile = request.profile
    apart = request.consent_apart and not split_consent
    before = check_source(request._replace(consent_apart=apart), source)
    cut, proof = _clips(before, profile, split=split_consent)
    if split_consent:
        before = _judged_again(before, profile, apart=True, statement=None, consent=None)
        request = request._replace(consent_apart=True)

    new: set[Path] = set()

    def fixed(
        planned: Plan, stem: Path, role: Role | None, progress: Callable[[float], None] | None
    ) -> Prepared:
        applied = fixes.apply(planned, source, stem, overwrite=overwrite, progress=progress)
        _note(applied, new, wrote)
        again = request._replace(role=role, speakers=_one_voice(before))
        # The clip goes without the words of the code, and a training video may without consent.
        same = applied.coding_kept and evidence is None and not split_consent
        kept = before if same else None
        output, report = _proof(applied.path, source, again, kept=kept, new=new)
        if before.facts and report.facts:
            lasting = _lasting(before.facts, report.facts, planned, applied)
            report = _judged_again(report, profile, **lasting)
        return _prepared(source, output, report, applied.fixes)

    def tried(planned: Plan) -> Report:
        made = fixed(planned, stem_of_a_part(into), before.role, None)
        made.path.unlink()
        return made.report

    target_stem = into / source.stem
    evidence = None
    if proof is not None:
        evidence = fixed(proof, into / f"{source.stem}-code", Role.CONSENT_VIDEO, None)
        speaker = request.speaker and request.speaker.model_copy(update={"code": None})
        request = request._replace(speaker=speaker)
    fix = plans.plan(before, profile)
    prepared: Prepared | None = None
    said: tuple[FixDone, ...] = ()
    if fix is not None:
        prepared = fixed(fix, target_stem, before.role, progress)
        lost = evidence is None and _lost(before, prepared.report)
        less, said = _least_lost(before, fix, prepared.report, tried) if lost else (fix, ())
        if less is not fix:
            _remove(prepared.path, new)
            prepared = fixed(less, target_stem, before.role, None) if less else None
    if prepared is None:
        prepared = _copied(source, before, target_stem, profile, overwrite=overwrite)
    prepared = prepared.model_copy(update={"fixes": (*prepared.fixes, *said)})
    if cut is None:
        return _with_evidence(prepared, evidence, profile)
    clip_stem = target_stem.with_name(f"{target_stem.name}-consent")
    clip = _with_evidence(fixed(cut, clip_stem, Role.CONSENT_VIDEO, None), evidence, profile)
    return prepared.model_copy(update={"consent": clip})


def _note(applied: fixes.Applied, new: set[Path], wrote: Callable[[str], object]) -> None:
    if not applied.was_there:
        new.add(Path(applied.path))
        wrote(applied.path)


def _remove(path: Path, new: Container[Path]) -> None:
    """A file of the same content that was there before is its owner's."""
    if path in new:
        path.unlink(missing_ok=True)


def _one_voice(report: Report) -> SpeakerFacts | None:
    """What was heard of a recording in which one person speaks. No fix adds another: to tell voices
    apart is most of what a look at a recording costs."""
    voice = report.facts and report.facts.voice
    return voice.speakers if voice and voice.speakers.several is False else None


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
    before: Report, planned: Plan, report: Report, tried: Callable[[Plan], Report]
) -> tuple[Plan | None, tuple[FixDone, ...]]:
    """The fix whose output comes out best, and what is told of the steps that it leaves out; no fix
    where the source itself comes out best. ``report`` is what the whole plan led to.

    No check may fail that did not. Then as few as can be fail, are worse than before, and warn.
    """
    ways: list[tuple[tuple[str, ...], Plan | None, Report]] = [((), planned, report)]
    ways += [(out, less, tried(less)) for out, less in plans.with_less(planned)]
    everything = tuple(each.fix for each in planned.reasons)
    ways.append((everything, None, before))

    def rank(way: tuple[tuple[str, ...], Plan | None, Report]) -> tuple[int, ...]:
        lost, judged = _lost(before, way[2]), way[2]
        failing = sum(check.outcome is Outcome.FAIL for check in lost)
        return failing, len(judged.failed), len(lost), len(judged.having(Outcome.WARN))

    out, best, _ = min(ways, key=rank)
    if not out:
        return planned, ()
    labels = ", ".join(check.label for check in _lost(before, report))
    did = f"left out {', '.join(out)}: it would have made this worse: {labels}"
    return best, (FixDone(id="left_out", did=did),)


_LASTING = ("saturated", "clipped_highlights", "clipped_shadows", "noise", "blocking")
"""Measures of an image, less is better, that no fix mends, though it can hide them."""


def _lasting(before: Facts, after: Facts, planned: Plan, applied: fixes.Applied) -> dict[str, Any]:
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
    trimmed = isinstance(planned, plans.VideoPlan) and planned.trim is not None
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
    if before.video and after.video and not trimmed:
        timing, was = after.video.timing, before.video.timing
        if timing and was:
            dropped = max(timing.dropped_frames, was.dropped_frames)
            timing = timing.model_copy(update={"dropped_frames": dropped})
        cut_off = before.video.truncated or after.video.truncated
        changed["video"] = after.video.model_copy(update={"timing": timing, "truncated": cut_off})
    return changed


def _clips(
    report: Report, profile: Profile, *, split: bool
) -> tuple[VideoPlan | None, VideoPlan | None]:
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
    at: Source | None = None,
    apart: bool = False,
    **changed: object,
) -> Report:
    """The same file judged in another role, ``at`` another place, or with other facts."""
    judged_as = role or report.role
    if report.facts is None or judged_as is None:
        return report
    own = {} if at is None else {"file": at.facts}
    found: Facts = report.facts.model_copy(update={**own, **changed})
    left_out = CONSENT_CHECKS if apart else report.left_out
    return rules.report_on(
        at.shown if at else report.path, found, judged_as, profile, left_out=left_out
    )


def _proof(
    written: str,
    source: Source,
    request: CheckRequest,
    *,
    kept: Report | None,
    new: Container[Path],
) -> tuple[Source, Report]:
    """What a fix wrote, and the report on it. What cannot be read back is removed: FixError.

    ``kept`` is the report on the source, where the output should show and play the same.
    """
    try:
        output = Source.of(written)
        known = kept and kept.facts and facts.coded_alike(kept.facts, source, output)
        if kept and known:
            holds = kept.model_copy(update={"facts": known})
            return output, _judged_again(holds, request.profile, at=output)
        return output, check_source(request, output)
    except MediaError as error:
        _remove(Path(written), new)
        raise FixError(
            f"The fix of {source.name} failed: what it wrote could not be read back, and was "
            f"removed ({error.message}). The source is as it was: export it again, in another "
            "format"
        ) from None


def _copied(
    source: Source, before: Report, target_stem: Path, profile: Profile, *, overwrite: bool
) -> Prepared:
    """A copy under an extension of its content; to change the extension is a fix."""
    suffix, extensions = Path(source.shown).suffix.lower(), source.type.extensions
    renamed = suffix not in extensions
    extension = extensions[0] if renamed else suffix
    with new_output(target_stem, extension, source=source.path, overwrite=overwrite) as copy:
        shutil.copyfile(source.path, copy.temporary)
    output = Source.of(copy.path)
    # Of the same bytes only what follows from the name is new.
    report = _judged_again(before, profile, at=output)
    did = f"copied under the extension of its content, {extension}"
    done = (FixDone(id="rename", did=did),) if renamed else ()
    return _prepared(source, output, report, done)


def _prepared(
    source: Source, output: Source, report: Report, fixes: tuple[FixDone, ...]
) -> Prepared:
    return Prepared(
        source=source.shown,
        source_sha256=source.sha256,
        path=output.path,
        report=report,
        fixes=fixes,
        sha256=output.sha256,
    )
