"""Check and prepare, here or in worker processes; and what others ask of such workers.

In a worker a file that crashes a decoder harms no other. This module loads no decoder, so that a
command which only waits for its workers stays small.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

from palprep import media
from palprep.errors import MediaError, MediaTooHeavy, ToolFailed, UsageError
from palprep.facts import Speaker
from palprep.fixes import remove_parts
from palprep.media import Source, name_of
from palprep.preflight.loop import check_source, prepare_source
from palprep.preflight.values import CheckRequest, Prepared, kinds_of, role_named
from palprep.rules import Profile, Report, load_profile
from palprep.values import Kind, Role, typed
from palprep.vocabulary import DEFAULT_PROFILE, FileInput, RoleName
from palprep.workers import LONGEST_S, Engine, Limits, LocalEngine, WorkStopped

F = TypeVar("F")
P = ParamSpec("P")
T = TypeVar("T")

Progress = Callable[[float], None]
"""Called with the fraction done, 0 to 1, never decreasing."""


@typed("speaker", "consent_apart", "quick", "engine")
def check(
    path: FileInput | Source,
    *,
    role: Role | RoleName | None = None,
    profile: str | Path | Profile = DEFAULT_PROFILE,
    speaker: Speaker | str | None = None,
    consent_apart: bool = False,
    quick: bool = False,
    engine: Engine | None = None,
) -> Report:
    """Measure and judge one file. Bad media gives a failed report, never an exception.

    ``path`` is a path, the file's bytes, or a binary file that is read from where it stands.
    Without ``role`` the content decides: an image is a face image, audio is voice audio, and a
    video is a training video, or a consent video if its name says consent. ``speaker`` is whose
    consent a video's statement is verified for; the full name alone will do. With ``consent_apart``
    the statement is not looked for in a training video, since another video holds it. ``quick``
    looks at headers, packets and a few key frames only, and leaves the rest unknown.

    With an ``engine``, such as :func:`media_workers` gives, the file is opened in its workers,
    within its limits of time and memory. A file that crashes a decoder, or keeps it busy for ever,
    then fails alone, and this process goes on. Use it for files from strangers, from as many
    threads as there are workers. Otherwise everything is done here, by networks that are loaded
    once. That saves the half second that a worker needs to start.

    Raises ProfileError for a profile that cannot be read, and WorkStopped when the workers are
    ended meanwhile.
    """
    request = _request(profile, role, speaker, consent_apart=consent_apart, quick=quick)
    try:
        return run_in(engine, check_source, request, Source.of(path))
    except (MediaError, ToolFailed) as error:
        if not at_one_file(error):
            raise
        return Report.of_error(
            name_of(path), error, role=request.role, profile=request.profile.name
        )


@typed("into", "speaker", "consent_apart", "split_consent", "overwrite", "progress", "engine")
def prepare(
    path: FileInput | Source,
    *,
    into: str | Path,
    role: Role | RoleName | None = None,
    profile: str | Path | Profile = DEFAULT_PROFILE,
    speaker: Speaker | str | None = None,
    consent_apart: bool = False,
    split_consent: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> Prepared:
    """Make the smallest fix of one file in a new file under ``into`` and prove it.

    The new file is named after the source, and replaces no other. If a file of other content has
    the name, the new one becomes ``NAME-2`` and so on. The same output gets the same name again.
    ``overwrite`` replaces what has the name. A new file that fails a check is written as well: look
    at ``passed``.

    With ``speaker`` a video is cut, where it must be, so that it opens with the statement
    of consent. ``split_consent`` writes the statement into a video of its own as well,
    ``-consent`` after the name; the training video is then prepared as with
    ``consent_apart``, and keeps it.

    The source is never changed. All other arguments are as for :func:`check`. Raises MediaError for
    a file that cannot be read; FixError if the fix cannot be made, or no statement was heard that
    could be split out; UsageError if the output would replace the source. With an ``engine`` it
    also raises MediaTooHeavy and ToolFailed, for work that a limit or a crash has ended, and
    removes what was written and could not be proved. WorkStopped tells that the workers were ended.
    """
    if split_consent and speaker is None:
        raise UsageError("Splitting the consent out needs to know who speaks: give a speaker")
    if engine is not None:
        engine.may_open(writes=[Path(into)])
    with no_parts_left(Path(into)):
        return run_in(
            engine,
            prepare_source,
            _request(profile, role, speaker, consent_apart=consent_apart),
            Source.of(path),
            into=Path(into),
            split_consent=split_consent,
            overwrite=overwrite,
            progress=progress,
        )


def _request(
    profile: str | Path | Profile,
    role: Role | RoleName | None,
    speaker: Speaker | str | None,
    *,
    consent_apart: bool,
    quick: bool = False,
) -> CheckRequest:
    named = role_named(role) if role is not None else None
    who = Speaker(full_name=speaker) if isinstance(speaker, str) else speaker
    return CheckRequest(load_profile(profile), named, who, consent_apart, quick)


@typed("jobs", "limits")
def media_workers(jobs: int | None = None, *, limits: Limits | None = None) -> LocalEngine:
    """Workers on this machine that load what an image needs when they start.

    ``jobs`` is how many, by default one for each core. Raises UsageError for less than one.
    """
    return LocalEngine(
        jobs,
        limits=limits,
        modules=["palprep.facts.probing"],
        later=["palprep.fixes.carry_out", "palprep.facts.video_probing"],
        programs=_ffmpeg_places(os.environ),
    )


def _ffmpeg_places(environ: Mapping[str, str]) -> Iterator[str]:
    """Where the ffmpeg may be that a fix runs: found without loading or running anything."""
    package = importlib.util.find_spec("imageio_ffmpeg")
    for each in (package and package.submodule_search_locations) or ():
        yield from map(str, Path(each, "binaries").glob("ffmpeg*"))
    named = (environ.get("IMAGEIO_FFMPEG_EXE"), shutil.which("ffmpeg", path=environ.get("PATH")))
    yield from filter(None, named)


def run_in(
    engine: Engine | None, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
) -> T:
    """What the engine's workers give, in the time that a file may take which is as long as the
    Source among ``args``; far away, in the longest. Without an engine it is run here."""
    if engine is None:
        return function(*args, **kwargs)
    source = next((each for each in args if isinstance(each, Source)), None)
    if source is None:
        return engine.run(function, *args, **kwargs)
    media_s = LONGEST_S if engine.far else engine.run(_length_s, source)
    return engine.run_for(media_s, function, *args, **kwargs)


def seen_by(
    engine: Engine, look: Callable[[tuple[F, ...]], tuple[T, ...]], files: Sequence[F], otherwise: T
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


def kinds_by(engine: Engine) -> Callable[[Sequence[Path]], tuple[Kind, ...]]:
    """Tells the kind of each file, by workers."""
    return lambda files: seen_by(engine, kinds_of, files, Kind.OTHER)


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
    return 0.0 if kind in {Kind.IMAGE, Kind.OTHER} else media.declared_length_s(source)
