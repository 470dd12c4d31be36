"""The loop that everything else calls: probe, judge, plan, apply, then probe and judge again.

Media only; nothing here speaks HTTP. The transform is not trusted: what it wrote is measured
and judged by the same functions as the source, and that report is the one that counts.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from pathlib import Path

from palprep.errors import FixError, MediaError, UsageError
from palprep.facts import Facts, ProbeLimits, Toolkit, probe
from palprep.fixes import FixDone, apply, new_output
from palprep.media import Source, open_image, probe_image
from palprep.preflight.values import CheckRequest, Prepared, infer_role, require_kind
from palprep.rules import (
    CONSENT_CHECKS,
    Profile,
    Report,
    audio_duration,
    image_memory,
    report_on,
    video_duration,
)
from palprep.rules.plans import Plan, VideoPlan, plan, plan_consent_clip
from palprep.values import Outcome, Role

_SMALL_PX = 256
"""A JPEG is decoded at an eighth of its size where that is at least so large."""


@functools.cache
def shared_toolkit() -> Toolkit:
    """The networks of this process, for whoever brings none; each loaded when it is first used."""
    return Toolkit()


def check_source(request: CheckRequest, source: Source, toolkit: Toolkit | None) -> Report:
    """Measure and judge a file, with the shared networks where ``toolkit`` is None.

    Raises MediaError for one that cannot be read, or cannot fill the role.
    """
    role = request.role or infer_role(source)
    require_kind(source, role)
    elsewhere = request.consent_apart and role is Role.TRAINING_VIDEO
    facts = probe(
        source,
        role,
        toolkit or shared_toolkit(),
        limits=probe_limits(request.profile, role),
        speaker=None if elsewhere else request.speaker,
        quick=request.quick,
    )
    left_out = CONSENT_CHECKS if elsewhere else ()
    return report_on(source.shown, facts, role, request.profile, left_out=left_out)


def probe_limits(profile: Profile, role: Role) -> ProbeLimits:
    """How far a file is read: what is beyond the profile's limits fails, whatever it holds."""
    duration = audio_duration if role is Role.VOICE_AUDIO else video_duration
    return ProbeLimits(
        image_memory_mb=profile.tightest_maximum(role, image_memory.id, Outcome.FAIL),
        duration_s=profile.tightest_maximum(role, duration.id, Outcome.FAIL),
    )


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
        return _prepared(source, output, report, applied.fixes)

    target_stem = into / source.stem
    evidence = None
    if proof is not None:
        evidence = fixed(proof, into / f"{source.stem}-code", Role.CONSENT_VIDEO, None)
        speaker = request.speaker and request.speaker.model_copy(update={"code": None})
        request = request._replace(speaker=speaker)
    fix = plan(before, profile)
    if fix is None:
        output, fixes = _copied(source, target_stem, overwrite=overwrite)
        moved = before.model_copy(update={"path": str(output.path)})
        # Of the same bytes only what follows from the name is new.
        report = _judged_again(moved, profile, file=output.facts)
        prepared = _prepared(source, output, report, fixes)
    else:
        prepared = fixed(fix, target_stem, before.role, progress)
    if cut is None:
        return _with_evidence(prepared, evidence, profile)
    clip_stem = target_stem.with_name(f"{target_stem.name}-consent")
    clip = _with_evidence(fixed(cut, clip_stem, Role.CONSENT_VIDEO, None), evidence, profile)
    return prepared.model_copy(update={"consent": clip})


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
