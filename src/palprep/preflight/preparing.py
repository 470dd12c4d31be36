"""The second half of the loop: plan, apply, then probe and judge again.

Media only, as the first half. The transform is not trusted: what it wrote is measured
and judged by the same functions as the source, and that report is the one that counts.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from palprep.errors import FixError, MediaError, UsageError
from palprep.facts import Facts, Toolkit
from palprep.fixes import Applied, FixDone, apply, new_output
from palprep.media import Source, open_image, probe_image
from palprep.preflight.checking import check_source
from palprep.preflight.values import CheckRequest, Prepared
from palprep.rules import (
    CONSENT_CHECKS,
    Check,
    Profile,
    Report,
    report_on,
)
from palprep.rules.plans import (
    ImagePlan,
    Plan,
    VideoPlan,
    VoicePlan,
    plan,
    plan_consent_clip,
    with_less,
)
from palprep.values import Outcome, Role

_SMALL_PX = 256
"""A JPEG is decoded at an eighth of its size where that is at least so large."""


def prepare_source(
    request: CheckRequest,
    source: Source,
    toolkit: Toolkit | None,
    *,
    into: Path,
    split_consent: bool,
    overwrite: bool,
    wrote: Callable[[str], object],
    progress: Callable[[float], None] | None,
) -> Prepared:
    """Fix a file and prove the result: see :meth:`~palprep.preflight.Preflight.prepare`.

    ``wrote`` hears of each file that a fix has written, before it is proved: it can then be removed
    if this process ends at the proof.
    """
    profile = request.profile
    apart = request.consent_apart and not split_consent
    before = check_source(request._replace(consent_apart=apart), source, toolkit)
    cut, proof = _clips(before, profile, split=split_consent)
    if split_consent:
        before = _judged_again(before, profile, apart=True, statement=None, consent=None)
        request = request._replace(consent_apart=True)

    def fixed(
        planned: Plan, stem: Path, role: Role | None, progress: Callable[[float], None] | None
    ) -> Prepared:
        applied = apply(planned, source, stem, overwrite=overwrite, progress=progress)
        wrote(applied.path)
        again = request._replace(role=role)
        kept = before if applied.pixels_kept else None
        output, report = _proof(applied.path, source, again, toolkit, kept=kept)
        if before.facts and report.facts:
            lasting = _lasting(before.facts, report.facts, planned, applied)
            report = _judged_again(report, profile, **lasting)
        return _prepared(source, output, report, applied.fixes)

    def tried(planned: Plan) -> Report:
        made = fixed(planned, target_stem.with_name(f"{source.stem}-tried"), before.role, None)
        made.path.unlink()
        return made.report

    target_stem = into / source.stem
    evidence = None
    if proof is not None:
        evidence = fixed(proof, into / f"{source.stem}-code", Role.CONSENT_VIDEO, None)
        speaker = request.speaker and request.speaker.model_copy(update={"code": None})
        request = request._replace(speaker=speaker)
    fix = plan(before, profile)
    prepared: Prepared | None = None
    said: tuple[FixDone, ...] = ()
    if fix is not None:
        prepared = fixed(fix, target_stem, before.role, progress)
        lost = evidence is None and _lost(before, prepared.report)
        less, said = _least_lost(before, fix, prepared.report, tried) if lost else (fix, ())
        if less is not fix:
            prepared.path.unlink()
            prepared = fixed(less, target_stem, before.role, None) if less else None
    if prepared is None:
        output, fixes = _copied(source, target_stem, overwrite=overwrite)
        moved = before.model_copy(update={"path": str(output.path)})
        # Of the same bytes only what follows from the name is new.
        report = _judged_again(moved, profile, file=output.facts)
        prepared = _prepared(source, output, report, fixes)
    prepared = prepared.model_copy(update={"fixes": (*prepared.fixes, *said)})
    if cut is None:
        return _with_evidence(prepared, evidence, profile)
    clip_stem = target_stem.with_name(f"{target_stem.name}-consent")
    clip = _with_evidence(fixed(cut, clip_stem, Role.CONSENT_VIDEO, None), evidence, profile)
    return prepared.model_copy(update={"consent": clip})


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
    ways += [(out, less, tried(less)) for out, less in with_less(planned)]
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


def _lasting(before: Facts, after: Facts, planned: Plan, applied: Applied) -> dict[str, Any]:
    """The facts of an output that are others where its source has a defect that the fix hides."""
    changed: dict[str, Any] = {}
    if isinstance(planned, ImagePlan) and before.portrait and after.portrait:
        old, new = before.portrait.quality, after.portrait.quality
        both = {name: (getattr(old, name), getattr(new, name)) for name in _LASTING}
        worst = {
            name: max((x for x in two if x is not None), default=None) for name, two in both.items()
        }
        quality = new.model_copy(update=worst)
        changed["portrait"] = after.portrait.model_copy(update={"quality": quality})
    trimmed = isinstance(planned, VideoPlan) and planned.trim is not None
    if before.voice and after.voice and not trimmed:
        chosen = isinstance(planned, VoicePlan) and planned.spans
        voice, holes = before.voice, () if chosen else before.voice.dropouts
        clipped = applied.clipped or (voice.clipped_runs, voice.clipped_s)
        runs, seconds = max(clipped, (after.voice.clipped_runs, after.voice.clipped_s))
        changed["voice"] = after.voice.model_copy(
            update={
                "clipped_runs": runs,
                "clipped_s": seconds,
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
    cut = plan_consent_clip(as_clip, report.facts, profile)
    if split and cut is None:
        consent = report.facts.consent
        why = " ".join(consent.reasons) if consent else "It has no audio."
        raise FixError(f"There is no consent in {Path(report.path).name} to split out. {why}")
    proof = plan_consent_clip(as_clip, report.facts, profile, with_code=True)
    return (cut if split else None), proof


def _with_evidence(prepared: Prepared, evidence: Prepared | None, profile: Profile) -> Prepared:
    """A video whose code was cut out, judged with the code as it is heard in the ``evidence``."""
    facts, heard = prepared.report.facts, evidence and evidence.report.facts
    if evidence is None or facts is None or facts.statement is None or not heard:
        return prepared
    code = heard.consent and heard.consent.code
    kept = code and code.model_copy(update={"kept_in": evidence.path.name})
    statement = facts.statement.model_copy(update={"code": kept})
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
    facts: Facts = report.facts.model_copy(update=changed)
    left_out = CONSENT_CHECKS if apart else report.left_out
    return report_on(report.path, facts, judged_as, profile, left_out=left_out)


def _proof(
    written: str,
    source: Source,
    request: CheckRequest,
    toolkit: Toolkit | None,
    *,
    kept: Report | None,
) -> tuple[Source, Report]:
    """What a fix wrote, and the report on it. What cannot be read back is removed: FixError.

    ``kept`` is the report on the source, where the output has its pixels. That is looked at on a
    small decode of both, and what was measured of the pixels then holds.
    """
    try:
        output = Source.of(written)
        if kept is not None:
            one, other = (open_image(each, max_side=_SMALL_PX)[1] for each in (source, output))
            if one == other:
                moved = kept.model_copy(update={"path": output.shown})
                image, _ = probe_image(output, max_memory_mb=0)
                return output, _judged_again(moved, request.profile, file=output.facts, image=image)
        return output, check_source(request, output, toolkit)
    except MediaError as error:
        Path(written).unlink(missing_ok=True)
        raise FixError(
            f"The fix of {source.name} failed: what it wrote could not be read back, and was "
            f"removed ({error.message}). The source is as it was: export it again, in another "
            "format"
        ) from None


def _copied(
    source: Source, target_stem: Path, *, overwrite: bool
) -> tuple[Source, tuple[FixDone, ...]]:
    """A copy under an extension of its content; to change the extension is a fix."""
    suffix, extensions = Path(source.shown).suffix.lower(), source.type.extensions
    renamed = suffix not in extensions
    extension = extensions[0] if renamed else suffix
    with new_output(target_stem, extension, source=source.path, overwrite=overwrite) as output:
        shutil.copyfile(source.path, output.temporary)
    did = f"copied under the extension of its content, {extension}"
    return Source.of(output.path), (FixDone(id="rename", did=did),) if renamed else ()


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
