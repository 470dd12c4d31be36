"""The files of a command line: found, and worked on in worker processes, several at once."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from palprep.cli.signals import interruptible
from palprep.errors import FileMissing, MediaError, PalprepError, UsageError
from palprep.preflight import media_workers
from palprep.vocabulary import Role
from palprep.workers import Limits, LocalEngine, Unexpected

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from palprep.cli.progress import Advance, FilesProgress
    from palprep.facts import Speaker
    from palprep.rules import Profile, Report

Result = TypeVar("Result")


class Input(NamedTuple):
    """A file to read; or a path at which nothing can be read, and why."""

    path: Path
    problem: str | None = None


class Inputs(NamedTuple):
    """Everything that was named, in its order, and what was passed over in folders."""

    all: tuple[Input, ...]
    passed_over: tuple[Path, ...]

    @property
    def files(self) -> list[Path]:
        """The files to read."""
        return [each.path for each in self.all if each.problem is None]

    @property
    def problems(self) -> list[str]:
        """Why paths cannot be read, one sentence each."""
        return [each.problem for each in self.all if each.problem is not None]


class FileOptions(NamedTuple):
    """Options that mean the same to every command that works on files one by one."""

    role: Role | None
    profile: str
    name: str | None
    statement: Path | None
    language: str
    model: Path | None
    jobs: int
    limits: Limits
    as_json: bool


class FilesAtWork:
    """Files, the workers that work on them, and the profile that they are judged by."""

    def __init__(
        self,
        inputs: Inputs,
        options: FileOptions,
        workers: Workers,
        progress: FilesProgress,
        profile: Profile,
    ) -> None:
        self.engine = workers.engine
        self.profile = profile
        self.role = options.role
        self.speaker = _speaker(options)
        self._inputs = inputs
        self._threads = workers.threads
        self._progress = progress
        videos = (path for path in inputs.files if self.is_a(Role.CONSENT_VIDEO, path))
        self._with_consent = frozenset(path.parent for path in videos)

    def is_a(self, role: Role, path: Path) -> bool:
        """Whether the file will be judged as this; False for one that cannot be read."""
        from palprep.media import Source
        from palprep.preflight import infer_role

        try:
            return (self.role or infer_role(Source.of(path))) is role
        except MediaError:
            return False

    def consent_apart(self, path: Path) -> bool:
        """Whether a consent video is in the file's folder: other videos need not hold the
        statement then.
        """
        return path.parent in self._with_consent

    def each(
        self, work: Callable[[Path, Advance], Result]
    ) -> Iterator[tuple[Input, Result | PalprepError]]:
        """What ``work`` gives of each file, in their order, as many at once as there are jobs; or
        the error: whatever goes wrong with one file, the others are worked on.
        """

        def one(file: Input) -> Result | PalprepError:
            if file.problem is not None:
                return FileMissing(file.problem)
            try:
                with self._progress.at(file.path.name) as advance:
                    return work(file.path, advance)
            except PalprepError as error:
                return error
            except Exception as error:  # noqa: BLE001 -- the others are worked on all the same
                return Unexpected.of(error).as_error()

        return zip(self._inputs.all, self._threads.map(one, self._inputs.all), strict=True)

    def aside(self) -> AbstractContextManager[None]:
        """While this lasts no progress is drawn, so that results can be printed."""
        return self._progress.aside()

    def report_of(self, file: Input, error: PalprepError) -> Report:
        """The report on a file that could not be worked on."""
        from palprep.rules import Report

        return Report.of_error(file.path, error, role=self.role, profile=self.profile.name)


@contextmanager
def files_at_work(inputs: Inputs, options: FileOptions) -> Iterator[FilesAtWork]:
    """Workers for files, and their progress. A signal raises Interrupted while this lasts."""
    with (
        interruptible(),
        workers(options.jobs, options.limits, begin=bool(inputs.files)) as at_work,
    ):
        # Loaded while the first worker loads the decoders.
        from palprep.cli.progress import showing_files
        from palprep.rules import load_profile

        with showing_files(len(inputs.all), wanted=not options.as_json) as progress:
            profile = load_profile(options.profile)
            yield FilesAtWork(inputs, options, at_work, progress, profile)


class Workers(NamedTuple):
    """The engine, and the threads that wait for it."""

    engine: LocalEngine
    threads: ThreadPoolExecutor


@contextmanager
def workers(jobs: int, limits: Limits, *, begin: bool) -> Iterator[Workers]:
    """Workers for a command; with ``begin`` the first one loads while the command goes on.

    They end when this does, at once when the command is interrupted.
    """
    # The engine is closed first: that ends what the threads wait for.
    with (
        ThreadPoolExecutor(jobs) as threads,
        media_workers(jobs, limits=limits) as engine,
    ):
        if begin:
            engine.begin()
        yield Workers(engine, threads)


def limits_of(time_s: float | None, memory_bytes: int | None) -> Limits:
    """What the options say. Raises UsageError for no time at all."""
    if time_s == 0:
        raise UsageError("--time-limit must be more than 0")
    given = {"time_s": time_s, "memory_bytes": memory_bytes}
    return Limits.model_validate({name: each for name, each in given.items() if each is not None})


def find_inputs(paths: Iterable[Path]) -> Inputs:
    """Look for the files. In folders, and in the folders below them, those are taken that hold
    or promise media; hidden ones are not.
    """
    found: list[Input] = []
    passed_over: list[Path] = []
    for path in paths:
        if path.is_dir():
            media, others = _in_folder(path)
            nothing = Input(path, f"{path} is a folder without images, audio or videos.")
            found += [Input(each) for each in media] or [nothing]
            passed_over += others
        elif os.path.lexists(path):
            found.append(Input(path))
        else:
            found.append(Input(path, _not_there(path)))
    return Inputs(tuple(found), tuple(passed_over))


def require_there(path: Path) -> None:
    """Raise UsageError for a path at which there is nothing."""
    if not os.path.lexists(path):
        raise UsageError(_not_there(path))


def _in_folder(folder: Path) -> tuple[list[Path], list[Path]]:
    """The files with media, and the others."""
    from palprep.batch import kind_of

    sorted_out: dict[bool, list[Path]] = {True: [], False: []}
    for path in _walk(folder):
        sorted_out[kind_of(path) is not None].append(path)
    return sorted_out[True], sorted_out[False]


def _walk(folder: Path) -> Iterator[Path]:
    for where, below, names in os.walk(folder):
        below[:] = sorted(each for each in below if not each.startswith("."))
        for name in sorted(names):
            # Special files, too: a pipe that is named like media is refused later, with a reason.
            if not name.startswith("."):
                yield Path(where, name)


def _not_there(path: Path) -> str:
    from palprep.media import address_of

    address = address_of(path)
    if address is not None:
        return f"{address} is an address, and no file: download it first."
    try:
        names = [each.name for each in path.parent.iterdir()]
    except OSError:
        names = []
    near = difflib.get_close_matches(path.name, names, n=1)
    hint = f" Did you mean {path.with_name(near[0])}?" if near else " Check the path."
    return f"{path} does not exist.{hint}"


def _speaker(options: FileOptions) -> Speaker | None:
    """Whose consent to listen for, and with which model; None without a name.

    Raises UsageError for a statement of nobody, ToolMissing for a folder without a model.
    """
    if options.name is None:
        if options.statement is not None:
            raise UsageError("--statement needs --name as well: whose consent is it?")
        return None
    # These load all decoders, which a command without a name leaves to its workers.

    from palprep.consent import read_statement, require_model
    from palprep.facts import Speaker

    statement, model = options.statement, options.model
    return Speaker(
        full_name=options.name,
        statement=read_statement(statement, profile=options.profile) if statement else None,
        language=options.language,
        model=model and require_model(model),
    )
