"""The loop that everything else calls: probe, judge, plan, apply, then probe and judge again.

Media only; nothing here speaks HTTP. The transform is not trusted: what it wrote is measured
and judged by the same functions as the source, and that report is the one that counts.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from palprep.errors import FixError, MediaError, UsageError
from palprep.facts.probe import Toolkit, probe
from palprep.facts.speaker import Speaker
from palprep.fixes.apply import FixDone, apply
from palprep.fixes.output import new_output
from palprep.media.given import given_name
from palprep.media.source import Source
from palprep.preflight import INSIDE
from palprep.preflight.isolated import Isolated
from palprep.preflight.limits import probe_limits
from palprep.preflight.prepared import Prepared
from palprep.preflight.roles import infer_role, require_kind, role_named
from palprep.rules.consent import CONSENT_CHECKS
from palprep.rules.judge import report_on
from palprep.rules.plans.consent import plan_consent_clip
from palprep.rules.plans.plan import VideoPlan
from palprep.rules.plans.planner import plan
from palprep.rules.profile import Profile, load_profile
from palprep.rules.report import Report
from palprep.values import Role
from palprep.vocabulary import DEFAULT_PROFILE, FileInput, RoleName
from palprep.workers.engine import Limits
from palprep.workers.local import LocalEngine

Progress = Callable[[float], None]
"""Called with the fraction done, 0 to 1, never decreasing."""


class Preflight:
    """Checks and prepares files against one profile, keeping loaded what can be kept.

    The functions :func:`check` and :func:`prepare` use a shared one; make your own to hold
    the models of a worker, or a profile of your own.

    ``isolated`` does all that decodes a file in ``jobs`` worker processes, each file within
    ``limits`` of time and memory. What crashes a decoder, or keeps it busy for ever, is then
    reported as that file's failure, and this process goes on. Use it for files that strangers
    send, from as many threads as there are jobs; and end it by ``with`` or :meth:`close`.
    Otherwise everything is done here, which saves the half second that a worker needs to start.
    """

    def __init__(
        self,
        profile: str | Path | Profile = DEFAULT_PROFILE,
        *,
        toolkit: Toolkit | None = None,
        quick: bool = False,
        isolated: bool = False,
        jobs: int = 1,
        limits: Limits | None = None,
    ) -> None:
        if isolated and toolkit is not None:
            raise UsageError("Workers load networks of their own: leave the toolkit out")
        self.profile = profile if isinstance(profile, Profile) else load_profile(profile)
        self.toolkit = toolkit or Toolkit()
        self.quick = quick
        self._isolated = None
        if isolated:
            engine = LocalEngine(jobs, limits=limits, modules=[INSIDE])
            self._isolated = Isolated(self.profile, engine, quick=quick)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(at_once=kind is not None)

    def close(self, *, at_once: bool = False) -> None:
        """End the workers, where there are any; with ``at_once`` also those at work."""
        if self._isolated is not None:
            self._isolated.close(at_once=at_once)

    def check(
        self,
        path: FileInput | Source,
        *,
        role: Role | RoleName | None = None,
        speaker: Speaker | None = None,
        consent_apart: bool = False,
    ) -> Report:
        """Measure and judge one file. Bad media gives a failed report, never an exception.

        ``path`` is a path, the file's bytes, or a binary file that is read from where it stands.
        Without ``role`` the content decides: an image is a face image, audio is voice
        audio, a video is a training video, or a consent video when its name says consent.
        With ``speaker`` a video's consent statement is verified too; with ``consent_apart``
        it is not looked for in a training video, since another video holds it.
        """
        if self._isolated is not None:
            return self._isolated.check(
                path, role=role, speaker=speaker, consent_apart=consent_apart
            )
        wanted = role_named(role) if role is not None else None
        try:
            return self._report(Source.of(path), wanted, speaker, apart=consent_apart)
        except MediaError as error:
            name = path.shown if isinstance(path, Source) else given_name(path)
            return Report.of_error(name, error, role=wanted, profile=self.profile.name)

    def prepare(
        self,
        path: FileInput | Source,
        *,
        into: str | Path,
        role: Role | RoleName | None = None,
        speaker: Speaker | None = None,
        consent_apart: bool = False,
        split_consent: bool = False,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> Prepared:
        """Make the smallest fix in a new file under ``into`` and prove it.

        The new file is named after the source, and replaces no other: where a file of other
        content has the name, it becomes ``NAME-2`` and so on; the very same output gets the
        very same name again. ``overwrite`` replaces what has the name.

        With ``speaker`` a video is cut, where it must be, so that it opens with the statement
        of consent. ``split_consent`` writes the statement into a video of its own as well,
        ``-consent`` after the name; the training video is then prepared as with
        ``consent_apart``, and keeps it.

        The source, given as for :meth:`check`, is never touched. Raises MediaError for a file that
        cannot be read, FixError where the fix cannot be made, or no statement was heard that could
        be split out, UsageError when the output would replace the source. Isolated, it raises
        MediaTooHeavy and ToolFailed as well, for what a limit or a crash has ended.
        """
        if self._isolated is not None:
            return self._isolated.prepare(
                path,
                into=into,
                role=role,
                speaker=speaker,
                consent_apart=consent_apart,
                split_consent=split_consent,
                overwrite=overwrite,
                progress=progress,
            )
        wanted = role_named(role) if role is not None else None
        if split_consent and speaker is None:
            raise UsageError("Splitting the consent out needs to know who speaks: give a speaker")
        source = Source.of(path)
        before = self._report(source, wanted, speaker, apart=consent_apart and not split_consent)
        cut = self._consent_clip(before) if split_consent else None
        apart = consent_apart or cut is not None
        if cut is not None:
            before = self._judged_again(before, apart=True, statement=None, consent=None)
        fix = plan(before, self.profile)
        target_stem = Path(into) / source.stem
        if fix is None:
            copied, fixes = _copy(source, target_stem, overwrite=overwrite)
            output = Source.of(copied)
            after = self._report_of_copy(before, output)
        else:
            applied = apply(fix, source, target_stem, overwrite=overwrite, progress=progress)
            fixes = applied.fixes
            output, after = self._proved(applied.path, source, before.role, speaker, apart=apart)
        clip = None
        if cut is not None:
            clip = self._split(cut, source, target_stem, speaker, overwrite=overwrite)
        return Prepared(
            source=source.shown,
            source_sha256=source.sha256,
            path=output.path,
            report=after,
            fixes=fixes,
            sha256=output.sha256,
            consent=clip,
        )

    def _consent_clip(self, report: Report) -> VideoPlan:
        if report.role is not Role.TRAINING_VIDEO or report.facts is None:
            raise UsageError(f"{report.path} is no training video to split the consent out of")
        as_clip = self._judged_again(report, role=Role.CONSENT_VIDEO)
        cut = plan_consent_clip(as_clip, report.facts, self.profile)
        if cut is None:
            consent = report.facts.consent
            why = " ".join(consent.reasons) if consent else "It has no audio."
            raise FixError(f"There is no consent in {Path(report.path).name} to split out. {why}")
        return cut

    def _split(
        self,
        cut: VideoPlan,
        source: Source,
        target_stem: Path,
        speaker: Speaker | None,
        *,
        overwrite: bool,
    ) -> Prepared:
        stem = target_stem.with_name(f"{target_stem.name}-consent")
        applied = apply(cut, source, stem, overwrite=overwrite)
        output, report = self._proved(applied.path, source, Role.CONSENT_VIDEO, speaker)
        return Prepared(
            source=source.shown,
            source_sha256=source.sha256,
            path=output.path,
            report=report,
            fixes=applied.fixes,
            sha256=output.sha256,
        )

    def _proved(
        self,
        written: str,
        source: Source,
        role: Role | None,
        speaker: Speaker | None,
        *,
        apart: bool = False,
    ) -> tuple[Source, Report]:
        """What a fix wrote, and the report on it. What cannot be read back is removed: FixError."""
        try:
            output = Source.of(written)
            return output, self._report(output, role, speaker, apart=apart)
        except MediaError as error:
            Path(written).unlink(missing_ok=True)
            raise FixError(
                f"The fix of {source.name} failed: what it wrote could not be read back, and was "
                f"removed ({error.message}). The source is as it was: export it again, in another "
                "format"
            ) from None

    def _judged_again(
        self, report: Report, *, role: Role | None = None, apart: bool = False, **changed: object
    ) -> Report:
        """The same file judged in another role, or with other facts."""
        judged_as = role or report.role
        if report.facts is None or judged_as is None:
            return report
        return report_on(
            report.path,
            report.facts.model_copy(update=changed),
            judged_as,
            self.profile,
            left_out=CONSENT_CHECKS if apart else report.left_out,
        )

    def _report_of_copy(self, report: Report, copy: Source) -> Report:
        """The same bytes under another name: only what follows from the name is new."""
        moved = report.model_copy(update={"path": str(copy.path)})
        return self._judged_again(moved, file=copy.facts)

    def _report(
        self, source: Source, role: Role | None, speaker: Speaker | None, *, apart: bool = False
    ) -> Report:
        judged_as = role or infer_role(source)
        require_kind(source, judged_as)
        elsewhere = apart and judged_as is Role.TRAINING_VIDEO
        facts = probe(
            source,
            judged_as,
            self.toolkit,
            limits=probe_limits(self.profile, judged_as),
            speaker=None if elsewhere else speaker,
            quick=self.quick,
        )
        left_out = CONSENT_CHECKS if elsewhere else ()
        return report_on(source.shown, facts, judged_as, self.profile, left_out=left_out)


def check_inside(profile: Profile, quick: bool, source: Source, **asked: Any) -> Report:  # noqa: FBT001 -- the arguments of a task
    """What a worker does for an isolated :meth:`Preflight.check`."""
    return Preflight(profile, toolkit=shared_toolkit(), quick=quick).check(source, **asked)


def prepare_inside(
    profile: Profile, source: Source, *, wrote: Callable[[str], None], **asked: Any
) -> Prepared:
    """What a worker does for an isolated :meth:`Preflight.prepare`. ``wrote`` hears of each file
    before it is proved.
    """
    return _Telling(profile, wrote).prepare(source, **asked)


class _Telling(Preflight):
    """Tells what a fix has written, so that it can be removed if this process ends at it."""

    def __init__(self, profile: Profile, wrote: Callable[[str], None]) -> None:
        super().__init__(profile, toolkit=shared_toolkit())
        self._wrote = wrote

    def _proved(self, written: str, *args: Any, **kwargs: Any) -> tuple[Source, Report]:
        self._wrote(written)
        return super()._proved(written, *args, **kwargs)


def check(
    path: FileInput,
    *,
    role: Role | RoleName | None = None,
    profile: str | Path = DEFAULT_PROFILE,
    speaker: Speaker | None = None,
    consent_apart: bool = False,
    quick: bool = False,
) -> Report:
    """Measure and judge one file: see :meth:`Preflight.check`.

    ``quick`` looks at headers, packets and a few key frames only, and leaves the rest unknown.
    """
    return _shared(str(profile), quick=quick).check(
        path, role=role, speaker=speaker, consent_apart=consent_apart
    )


def prepare(
    path: FileInput,
    *,
    into: str | Path,
    role: Role | RoleName | None = None,
    profile: str | Path = DEFAULT_PROFILE,
    speaker: Speaker | None = None,
    consent_apart: bool = False,
    split_consent: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Prepared:
    """Fix one file into a folder and prove the result: see :meth:`Preflight.prepare`."""
    return _shared(str(profile)).prepare(
        path,
        into=into,
        role=role,
        speaker=speaker,
        consent_apart=consent_apart,
        split_consent=split_consent,
        overwrite=overwrite,
        progress=progress,
    )


@functools.cache
def shared_toolkit() -> Toolkit:
    """The networks of all functions of this package that are given none, each loaded when it is
    first used.
    """
    return Toolkit()


@functools.lru_cache(maxsize=4)
def _shared(profile: str, *, quick: bool = False) -> Preflight:
    return Preflight(profile, toolkit=shared_toolkit(), quick=quick)


def _copy(
    source: Source, target_stem: Path, *, overwrite: bool
) -> tuple[Path, tuple[FixDone, ...]]:
    suffix, extensions = Path(source.shown).suffix.lower(), source.type.extensions
    renamed = suffix not in extensions
    chosen = extensions[0] if renamed else suffix
    with new_output(target_stem, chosen, source=source.path, overwrite=overwrite) as output:
        shutil.copyfile(source.path, output.temporary)
    did = f"copied under the extension of its content, {extensions[0]}"
    return output.path, (FixDone(id="rename", did=did),) if renamed else ()
