"""Check and prepare: what callers use of the media loop, here or in worker processes.

In a worker a file that crashes a decoder harms no other. This module loads no decoder, so that a
command which only waits for its workers stays small: the functions that do so import
:mod:`.checking` and :mod:`.preparing` where they run. Workers find them by reference.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from palprep.errors import MediaError, MediaTooHeavy, ToolFailed, UsageError
from palprep.fixes import remove_parts
from palprep.media import Source, name_of
from palprep.preflight.values import CheckRequest, Prepared, kinds_of, role_named
from palprep.rules import Profile, Report, load_profile
from palprep.values import Kind, Role
from palprep.vocabulary import DEFAULT_PROFILE, FileInput, RoleName
from palprep.workers import LONGEST_S, Callback, Engine, Limits, LocalEngine, Runner, WorkStopped

if TYPE_CHECKING:
    from palprep.facts import Speaker, Toolkit

F = TypeVar("F")
T = TypeVar("T")

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
    With an ``engine`` the workers are that engine's, which whoever made it ends. Otherwise
    everything is done here, which saves the half second that a worker needs to start.
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
        engine: Engine | None = None,
    ) -> None:
        if (isolated or engine) and toolkit is not None:
            raise UsageError("Workers load networks of their own: leave the toolkit out")
        self.profile = profile if isinstance(profile, Profile) else load_profile(profile)
        self.quick = quick
        self._toolkit = toolkit
        self._own = media_workers(jobs, limits=limits) if isolated and engine is None else None
        self._engine = engine or self._own

    @functools.cached_property
    def toolkit(self) -> Toolkit:
        """The networks that measure in this process, each loaded when it is first used."""
        from palprep.facts import Toolkit  # noqa: PLC0415

        return self._toolkit or Toolkit()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(at_once=kind is not None)

    def close(self, *, at_once: bool = False) -> None:
        """End the workers that this made, if any; with ``at_once`` also those at work."""
        if self._own is not None:
            self._own.close(at_once=at_once)

    def check(
        self,
        path: FileInput | Source,
        *,
        role: Role | RoleName | None = None,
        speaker: Speaker | str | None = None,
        consent_apart: bool = False,
    ) -> Report:
        """Measure and judge one file. Bad media gives a failed report, never an exception.

        ``path`` is a path, the file's bytes, or a binary file that is read from where it stands.
        Without ``role`` the content decides: an image is a face image, audio is voice
        audio, a video is a training video, or a consent video when its name says consent.
        With ``speaker``, or the full name alone, a video's consent statement is verified
        too; with ``consent_apart`` it is not looked for in a training video, since another
        video holds it.

        Raises WorkStopped when the workers are ended meanwhile.
        """
        request = self._request(role, speaker, consent_apart=consent_apart)
        try:
            return self._run(_check, request, Source.of(path))
        except (MediaError, ToolFailed) as error:
            if not at_one_file(error):
                raise
            return Report.of_error(
                name_of(path), error, role=request.role, profile=self.profile.name
            )

    def prepare(
        self,
        path: FileInput | Source,
        *,
        into: str | Path,
        role: Role | RoleName | None = None,
        speaker: Speaker | str | None = None,
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
        MediaTooHeavy and ToolFailed as well, for what a limit or a crash has ended, and removes
        what was written and could not be proved; WorkStopped when the workers are ended meanwhile.
        """
        if split_consent and speaker is None:
            raise UsageError("Splitting the consent out needs to know who speaks: give a speaker")
        written: list[str] = []
        if self._engine is not None:
            self._engine.may_open(writes=[Path(into)])
        try:
            with no_parts_left(Path(into)):
                return self._run(
                    _prepare,
                    self._request(role, speaker, consent_apart=consent_apart),
                    Source.of(path),
                    into=Path(into),
                    split_consent=split_consent,
                    overwrite=overwrite,
                    wrote=Callback(written.append, str),
                    progress=None if progress is None else Callback(progress, float),
                )
        except WorkStopped:
            raise  # Nothing is wrong with it; and the same file may be there from before.
        except (ToolFailed, MediaTooHeavy):
            # A worker says what it wrote, and may have been taken over.
            for each in map(Path, written):
                if each.parent.resolve() == Path(into).resolve():
                    each.unlink(missing_ok=True)
            raise

    def _request(
        self, role: Role | RoleName | None, speaker: Speaker | str | None, *, consent_apart: bool
    ) -> CheckRequest:
        named = role_named(role) if role is not None else None
        if isinstance(speaker, str):
            # Loaded here: it is no decoder, and the room that it is in has some.
            from palprep.facts import Speaker  # noqa: PLC0415

            speaker = Speaker(full_name=speaker)
        return CheckRequest(self.profile, named, speaker, consent_apart, self.quick)

    def _run(
        self, function: Callable[..., T], request: CheckRequest, source: Source, **options: Any
    ) -> T:
        """The function's value, from here or from the engine's workers."""
        if self._engine is None:
            return function(request, source, self.toolkit, **options)
        return for_source(self._engine, source).run(function, request, source, None, **options)


def check(
    path: FileInput,
    *,
    role: Role | RoleName | None = None,
    profile: str | Path = DEFAULT_PROFILE,
    speaker: Speaker | str | None = None,
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
    speaker: Speaker | str | None = None,
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


@functools.lru_cache(maxsize=4)
def _shared(profile: str, *, quick: bool = False) -> Preflight:
    from palprep.preflight.checking import shared_toolkit  # noqa: PLC0415

    return Preflight(profile, toolkit=shared_toolkit(), quick=quick)


def _check(request: CheckRequest, source: Source, toolkit: Toolkit | None) -> Report:
    from palprep.preflight.checking import check_source  # noqa: PLC0415

    return check_source(request, source, toolkit)


def _prepare(
    request: CheckRequest, source: Source, toolkit: Toolkit | None, /, **options: Any
) -> Prepared:
    from palprep.preflight.preparing import prepare_source  # noqa: PLC0415

    return prepare_source(request, source, toolkit, **options)


def media_workers(jobs: int | None = None, *, limits: Limits | None = None) -> LocalEngine:
    """Workers on this machine that load what an image needs when they start.

    As many ``jobs`` as processor cores where none are named. Raises UsageError for less than one.
    """
    return LocalEngine(
        jobs,
        limits=limits,
        modules=["palprep.preflight.checking"],
        later=["palprep.preflight.preparing", "palprep.facts.video_probing"],
        programs=_ffmpeg_places(os.environ),
    )


def _ffmpeg_places(environ: Mapping[str, str]) -> Iterator[str]:
    """Where the ffmpeg may be that a fix runs: found without loading or running anything."""
    package = importlib.util.find_spec("imageio_ffmpeg")
    for each in (package and package.submodule_search_locations) or ():
        yield from map(str, Path(each, "binaries").glob("ffmpeg*"))
    named = (environ.get("IMAGEIO_FFMPEG_EXE"), shutil.which("ffmpeg", path=environ.get("PATH")))
    yield from filter(None, named)


def for_source(engine: Engine, source: Source) -> Runner:
    """The engine, with the time that a file of this length may take; far away, with the longest."""
    if engine.far:
        return engine.for_length(LONGEST_S)
    return engine.for_length(engine.run(_length_s, source))


def seen_by(
    engine: Runner, look: Callable[[tuple[F, ...]], tuple[T, ...]], files: Sequence[F], otherwise: T
) -> tuple[T, ...]:
    """What ``look`` says of each file, in a worker; ``otherwise`` of one that it fails at.

    Raises WorkStopped when the workers are ended meanwhile.
    """
    if not files:
        return ()
    try:
        return engine.run(look, tuple(files))
    except WorkStopped:
        raise
    except (ToolFailed, MediaTooHeavy):
        if len(files) == 1:
            return (otherwise,)
        return tuple(each for file in files for each in seen_by(engine, look, (file,), otherwise))


def at_one_file(error: MediaError | ToolFailed) -> bool:
    """Whether it is this file that the work failed at, and not the workers as such."""
    ended_at_it = "pid" in vars(error) and not isinstance(error, WorkStopped)
    return isinstance(error, MediaError) or ended_at_it


@contextmanager
def no_parts_left(*folders: Path) -> Iterator[None]:
    """Remove from the folders what a worker had half written, when it is killed in here."""
    try:
        yield
    except (ToolFailed, MediaTooHeavy) as error:
        pid = vars(error).get("pid")
        if pid is not None:
            for folder in folders:
                remove_parts(folder, pid)
        raise


def _length_s(source: Source) -> float:
    # Reads the file, and loads a decoder for all but images: so it runs in a worker.
    [kind] = kinds_of((source,))
    if kind in {Kind.IMAGE, Kind.OTHER}:
        return 0.0
    from palprep.media import declared_length_s  # noqa: PLC0415

    return declared_length_s(source)
