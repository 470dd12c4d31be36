"""Check and prepare, here or in worker processes, and what others ask of such workers; and verify
consent, word by word.

In a worker a file that crashes a decoder harms no other. This module loads no decoder, so that a
command which only waits for its workers stays small.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

from palprep import consent, media
from palprep.consent import wording
from palprep.errors import MediaError, MediaTooHeavy, ToolFailed, UsageError
from palprep.facts import Speaker
from palprep.fixes import remove_parts
from palprep.media.sources import Source, name_of
from palprep.preflight.loop import check_source, prepare_source
from palprep.preflight.values import CheckRequest, Prepared, kinds_of
from palprep.rules import Profile, Report, load_profile
from palprep.rules.consent import grade_statement
from palprep.values import Kind, Outcome, Role, typed
from palprep.vocabulary import DEFAULT_PROFILE, FileInput, RoleName
from palprep.workers import LONGEST_S, Engine, Limits, LocalEngine, WorkStopped

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

    ``path`` is a path, the file's bytes, or a binary file that is read from where it stands, and
    stands there again afterwards.
    Without ``role`` the content decides: an image is a face image, audio is voice audio, and a
    video is a training video, or a consent video if its name says consent. ``speaker`` is whose
    consent a video's statement is verified for; the full name alone will do. With ``consent_apart``
    the statement is not looked for in a training video, since another video holds it. ``quick``
    looks at headers, packets and a few key frames only, and leaves the rest unknown.

    With an ``engine``, such as :func:`media_workers` gives, the file is opened in its workers,
    within its limits of time and memory: use it for files from strangers, from as many threads as
    there are workers. Otherwise everything is done here, by networks that are loaded once.

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
    try:
        named = None if role is None else Role(role)
    except ValueError:
        roles = ", ".join(each.value for each in Role)
        raise UsageError(f"There is no role {role!r}; the roles are {roles}") from None
    who = Speaker(full_name=speaker) if isinstance(speaker, str) else speaker
    return CheckRequest(load_profile(profile), named, who, consent_apart, quick)


@typed("jobs", "limits")
def media_workers(jobs: int | None = None, *, limits: Limits | None = None) -> LocalEngine:
    """Workers on this machine that load what an image needs when they start.

    ``jobs`` is how many, by default one for each core. Raises UsageError for less than one. Threads
    may share them, processes may not: one that was forked after their first use gets UsageError.
    """
    return LocalEngine(
        jobs,
        limits=limits,
        modules=["palprep.facts.probing"],
        later=["palprep.fixes.carry_out", "palprep.facts.video_probing"],
        programs=_ffmpeg_places(os.environ),
    )


def _ffmpeg_places(environ: Mapping[str, str]) -> Iterator[str]:
    """Where the ffmpeg may be that a fix runs, as imageio-ffmpeg looks for it: found without
    loading or running anything."""
    package = importlib.util.find_spec("imageio_ffmpeg")
    for each in (package and package.submodule_search_locations) or ():
        yield from map(str, Path(each, "binaries").glob("ffmpeg*"))
    yield str(Path(sys.prefix, "bin", "ffmpeg"))  # Of a Conda environment.
    named = environ.get("IMAGEIO_FFMPEG_EXE") or "ffmpeg"
    yield from filter(None, [shutil.which(named, path=environ.get("PATH"))])


def run_in(
    engine: Engine | None, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
) -> T:
    """Run a function in the engine's workers, in the time for a file as long as the Source among
    ``args``, or in the longest time if they are far away; here, without an engine."""
    if engine is None:
        return function(*args, **kwargs)
    source = next((each for each in args if isinstance(each, Source)), None)
    if source is None:
        return engine.run(function, *args, **kwargs)
    media_s = LONGEST_S if engine.far else engine.run(_length_s, source)
    return engine.run_for(media_s, function, *args, **kwargs)


def kinds_by(engine: Engine) -> Callable[[Sequence[Path | Source]], tuple[Kind, ...]]:
    """A function that tells the kind of each file in a worker, OTHER for a file that it fails at.
    It raises WorkStopped when the workers are ended meanwhile."""

    def kinds(files: Sequence[Path | Source]) -> tuple[Kind, ...]:
        if not files:
            return ()
        try:
            return engine.run(kinds_of, tuple(files))
        except WorkStopped:
            raise
        except (ToolFailed, MediaTooHeavy):
            if len(files) == 1:
                return (Kind.OTHER,)
            return tuple(each for file in files for each in kinds((file,)))

    return kinds


def at_one_file(error: MediaError | ToolFailed) -> bool:
    """Whether the work failed at this one file, and not the workers as such."""
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
    return 0.0 if kind in {Kind.IMAGE, Kind.OTHER} else media.glimpse(source)[0]


_STAND_INS = tuple(f"Somebody{' Else' * more}" for more in (1, 2, 3, 4))
"""Names to listen with before the real one is known, with as many words as that may have. The words
around it show where it stands."""

_MOST_NAME_WORDS = 8
"""Where more words are heard in the name's place, they are not a name alone."""


@typed("full_name", "spoken_as", "statement", "language", "whisper_model", "code")
def verify_consent(
    path: FileInput | Source,
    *,
    full_name: str,
    spoken_as: str | None = None,
    statement: str | None = None,
    language: str = "en",
    whisper_model: consent.Whisper | str | Path | None = None,
    code: wording.AskedCode | None = None,
    profile: str | Path | Profile = DEFAULT_PROFILE,
) -> consent.ConsentFacts:
    """Verify the consent statement in the opening of a recording or video.

    ``spoken_as`` is how the name sounds, in Latin letters. Give it if the spelling does not show
    that; it is listened for instead of the name. ``statement`` is the service's own text, with
    ``{full_name}`` in it. Without it palprep's template for the language is used.
    ``whisper_model`` is the folder of a Whisper model that listens first, or a loaded one.
    Without it the installed default listens, which knows English only. The statement must begin in
    the first 30 seconds. The limits of ``profile`` grade what was heard. ``code`` is listened for
    after the statement (:func:`palprep.journal.asked_code`).

    The outcome is ``unknown``, with the command that helps among the reasons, when the default
    model is not installed or does not know the language. Raises MediaError for a file that
    cannot be read, ToolMissing for a named model that is missing, ToolFailed for a damaged model,
    ProfileError for a profile that cannot be read, and UsageError for a language without a
    statement, or a statement without the name.
    """
    limits = load_profile(profile)
    source = Source.of(path)
    required = wording.statement_for(full_name, statement, language=language, spoken_as=spoken_as)
    required = required._replace(code=code)
    listener = consent.model_for(required, whisper_model)
    samples = consent.decode_opening(source, required)
    reading = consent.read_samples(samples, required, listener)
    return grade_statement(reading, limits.consent).model_copy(update={"path": source.shown})


def verify_wording(
    path: FileInput | Source,
    *,
    statement: str,
    language: str = "en",
    model: consent.Whisper | str | Path | None = None,
) -> consent.ConsentFacts:
    """Verify the statement as :func:`~palprep.verify_consent` does, with any name in it.

    ``statement`` holds ``{full_name}`` where the name is said. The opening is read twice: to hear
    which name stands there, and with that name, which is the ``full_name`` of the result; and again
    for names of more words where that fails. Where no name is heard, or words that negate in its
    place, the outcome is ``fail``.

    Raises as ``verify_consent`` does.
    """
    source = Source.of(path)
    limits = load_profile()
    unnamed = [wording.statement_for(each, statement, language=language) for each in _STAND_INS]
    listener = consent.model_for(unnamed[-1], model)
    if isinstance(listener, consent.Whisper):
        listener = listener.remembering()
    samples = consent.decode_opening(source, unnamed[-1])
    tried: dict[str, consent.ConsentFacts] = {}
    for required in unnamed:
        first = consent.read_samples(samples, required, listener)
        if not first.aligned:
            return grade_statement(first, limits.consent)
        name = next((part.name.heard for part in first.parts if part.name), "").strip(wording.MARKS)
        if name in tried:
            continue
        if (wrong := _why_no_name(name)) is not None:
            graded = grade_statement(first, limits.consent)
            found = graded.model_copy(update={"outcome": Outcome.FAIL, "reasons": (wrong,)})
        else:
            named = wording.statement_for(name, statement, language=language)
            found = grade_statement(consent.read_samples(samples, named, listener), limits.consent)
        if found.outcome.passed:
            return found
        tried[name] = found
    return next(iter(tried.values()))


def _why_no_name(heard: str) -> str | None:
    """Why what was heard in the name's place cannot be a name; None when it can."""
    words = wording.split_words(heard)
    if not any(character.isalpha() for character in heard):
        return "No name is heard where the full name must be said."
    if len(words) > _MOST_NAME_WORDS or any(wording.negates(word, ()) for word in words):
        return f"“{heard}” is heard where the full name must be said."
    return None
