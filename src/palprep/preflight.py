"""The loop that everything else calls: probe, judge, plan, apply, then probe and judge again.

Media only; nothing here speaks HTTP. The transform is not trusted: what it wrote is measured
and judged by the same functions as the source, and that report is the one that counts.
"""

from __future__ import annotations

import functools
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

from palprep.errors import MediaError, UnsupportedMedia, UsageError
from palprep.fixes.apply import FixDone, apply
from palprep.fixes.output import atomic_output, named
from palprep.media.facts import Kind, MediaType
from palprep.media.sniff import sniff
from palprep.media.thumbnail import thumbnail as media_thumbnail
from palprep.probe import Instruments, Speaker, probe
from palprep.rules.judge import judge
from palprep.rules.planner import plan
from palprep.rules.profile import DEFAULT_PROFILE, Profile, load_profile
from palprep.rules.report import Report, ReportError
from palprep.rules.roles import Role
from palprep.values import Value

Progress = Callable[[float], None]
"""Called with the fraction done, 0 to 1, never decreasing."""

KINDS = {
    Role.FACE_IMAGE: frozenset({Kind.IMAGE}),
    Role.VOICE_AUDIO: frozenset({Kind.AUDIO, Kind.VIDEO}),
    Role.TRAINING_VIDEO: frozenset({Kind.VIDEO}),
    Role.CONSENT_VIDEO: frozenset({Kind.VIDEO}),
}
"""What content each role can be filled with."""

_WANTED = {
    Role.FACE_IMAGE: "a still picture (JPEG, PNG, WebP, HEIC or HEIF)",
    Role.VOICE_AUDIO: "sound, or a video with sound",
    Role.TRAINING_VIDEO: "a video",
    Role.CONSENT_VIDEO: "a video",
}


class Prepared(Value):
    """A file that is ready to be published, with the proof.

    ``report`` is the output's own; ``fixes`` is empty when the source was fit as it was, and
    the output is then a copy of it byte for byte. ``sha256`` is the output's, in hex.
    """

    source: str
    path: str
    report: Report
    fixes: tuple[FixDone, ...]
    sha256: str


class Preflight:
    """Checks and prepares files against one profile, keeping loaded what can be kept.

    The functions :func:`check` and :func:`prepare` use a shared one; make your own to hold
    the models of a worker, or a profile of your own.
    """

    def __init__(
        self,
        profile: str | Path | Profile = DEFAULT_PROFILE,
        *,
        instruments: Instruments | None = None,
        quick: bool = False,
    ) -> None:
        self.profile = profile if isinstance(profile, Profile) else load_profile(profile)
        self.instruments = instruments or Instruments()
        self.quick = quick

    def check(
        self,
        path: str | Path,
        *,
        role: Role | str | None = None,
        speaker: Speaker | None = None,
    ) -> Report:
        """Measure and judge one file. Bad media gives a failed report, never an exception.

        Without ``role`` the content decides: a picture is a face image, sound is voice
        audio, a video is a training video, or a consent video when its name says consent.
        With ``speaker`` a video's consent statement is verified too.
        """
        wanted = _as_role(role)
        try:
            return self._report(Path(path), wanted, speaker)
        except MediaError as error:
            return Report(
                path=str(path),
                role=wanted,
                profile=self.profile.name,
                error=ReportError(code=error.code, message=error.message),
            )

    def prepare(
        self,
        path: str | Path,
        *,
        into: str | Path,
        role: Role | str | None = None,
        speaker: Speaker | None = None,
        progress: Progress | None = None,
    ) -> Prepared:
        """Make the smallest repair in a new file under ``into`` and prove it.

        The source is never touched. Raises MediaError for a file that cannot be read, FixError
        where the repair cannot be made, UsageError when the output would replace the source.
        """
        source = Path(path)
        before = self._report(source, _as_role(role), speaker)
        repair = plan(before, self.profile)
        target_stem = Path(into) / source.stem
        if repair is None:
            output, fixes = _copy(source, target_stem, sniff(source))
            after = self._report_of_copy(before, output)
        else:
            applied = apply(repair, source, target_stem, progress=progress)
            output, fixes = Path(applied.path), applied.fixes
            after = self._report(output, before.role, speaker)
        return Prepared(
            source=str(source),
            path=str(output),
            report=after,
            fixes=fixes,
            sha256=sha256_of(output),
        )

    def _report_of_copy(self, report: Report, copy: Path) -> Report:
        """The same bytes under another name: only what follows from the name is new."""
        if report.facts is None or report.role is None:
            return report.model_copy(update={"path": str(copy)})
        file = report.facts.file.model_copy(update={"path": str(copy), "name": copy.name})
        facts = report.facts.model_copy(update={"file": file})
        checks = judge(facts, report.role, self.profile)
        return report.model_copy(update={"path": str(copy), "facts": facts, "checks": checks})

    def _report(self, path: Path, role: Role | None, speaker: Speaker | None) -> Report:
        media_type = sniff(path)
        judged_as = role or infer_role(path, media_type)
        if not media_type.accepted or media_type.kind not in KINDS[judged_as]:
            raise UnsupportedMedia(
                f"{path.name} is {media_type.description}; "
                f"{judged_as.value} wants {_WANTED[judged_as]}"
            )
        facts = probe(
            path, media_type, judged_as, self.instruments, speaker=speaker, quick=self.quick
        )
        return Report(
            path=str(path),
            role=judged_as,
            profile=self.profile.name,
            checks=judge(facts, judged_as, self.profile),
            facts=facts,
        )


def check(
    path: str | Path,
    *,
    role: Role | str | None = None,
    profile: str | Path = DEFAULT_PROFILE,
    speaker: Speaker | None = None,
    quick: bool = False,
) -> Report:
    """Measure and judge one file: see :meth:`Preflight.check`.

    ``quick`` looks at headers, packets and a few key frames only, and leaves the rest unknown.
    """
    return _shared(str(profile), quick=quick).check(path, role=role, speaker=speaker)


def prepare(
    path: str | Path,
    *,
    into: str | Path,
    role: Role | str | None = None,
    profile: str | Path = DEFAULT_PROFILE,
    progress: Progress | None = None,
) -> Prepared:
    """Repair one file into a folder and prove the result: see :meth:`Preflight.prepare`."""
    return _shared(str(profile)).prepare(path, into=into, role=role, progress=progress)


def infer_role(path: Path, media_type: MediaType) -> Role:
    """The role that content and, among videos, the file's name suggest.

    Raises UnsupportedMedia for content that no role takes.
    """
    match media_type.kind:
        case Kind.IMAGE:
            return Role.FACE_IMAGE
        case Kind.AUDIO:
            return Role.VOICE_AUDIO
        case Kind.VIDEO:
            return Role.CONSENT_VIDEO if "consent" in path.stem.lower() else Role.TRAINING_VIDEO
        case Kind.OTHER:
            raise UnsupportedMedia(
                f"{path.name} is {media_type.description}; palprep takes pictures (JPEG, PNG, "
                "WebP, HEIC, HEIF), sound (MP3, WAV, M4A, FLAC, Ogg, WebM) and video (MP4, MOV, "
                "WebM)"
            )


def thumbnail(path: str | Path) -> bytes:
    """A small upright JPEG of a picture or a video.

    Raises MediaError for a file that has no picture or cannot be read.
    """
    return media_thumbnail(path, sniff(path))


def sha256_of(path: Path) -> str:
    """SHA-256 of the file in hex, read in blocks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@functools.lru_cache(maxsize=4)
def _shared(profile: str, *, quick: bool = False) -> Preflight:
    return Preflight(profile, quick=quick)


def _as_role(role: Role | str | None) -> Role | None:
    if role is None:
        return None
    try:
        return Role(role)
    except ValueError:
        roles = ", ".join(each.value for each in Role)
        raise UsageError(f"There is no role {role!r}; the roles are {roles}") from None


def _copy(
    source: Path, target_stem: Path, media_type: MediaType
) -> tuple[Path, tuple[FixDone, ...]]:
    suffix = source.suffix.lower()
    renamed = suffix not in media_type.extensions
    target = named(target_stem, media_type.extensions[0] if renamed else suffix, source=source)
    with atomic_output(target) as temporary:
        shutil.copyfile(source, temporary)
    did = f"copied under the extension of its content, {media_type.extensions[0]}"
    return target, (FixDone(id="rename", did=did),) if renamed else ()
