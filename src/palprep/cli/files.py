"""The files of a command line: found, and worked on in worker processes, several at once."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from palprep import consent, facts, preflight, rules, workers
from palprep.batch import people
from palprep.cli import options
from palprep.cli.exits import ExitCode, ending_well, exit_code_of
from palprep.cli.output import SAME, WAIVE, is_watched, paths_in_shell, tell_warning
from palprep.consent import wording
from palprep.errors import FileMissing, PalprepError, UsageError
from palprep.rules import consent as consent_rules
from palprep.storage import files_below, is_folder
from palprep.vocabulary import DEFAULT_PROFILE, Role, address_of, did_you_mean

if TYPE_CHECKING:  # It loads rich.
    from palprep.cli.progress import Advance, FilesProgress

Result = TypeVar("Result")

DECIDE = (
    "Next: whether consent is given is in doubt. Listen to what the findings name. Record the "
    f"statement again, and {SAME}. {WAIVE}"
)
_MEND = f"Next: do what the findings say, and {SAME}."


class Input(NamedTuple):
    """A file to read; or a path at which nothing can be read, and the ``problem``."""

    path: Path
    problem: str | None = None
    folder: Path | None = None
    """Its place below the given folder, under the name of that if there are several. None for a
    file that was itself given."""


@dataclass(frozen=True)
class FileOptions:
    """Options that mean the same to every command that works on files one by one."""

    role: options.AsRole = None
    profile: options.ProfileName = DEFAULT_PROFILE
    name: options.SpeakerName = None
    spoken_as: options.SpokenAs = None
    statement: options.Statement = None
    language: options.Language = "en"
    model: options.WhisperModel = None
    jobs: options.Jobs = 1
    time_limit: options.TimeLimit = None
    memory_limit: options.MemoryLimit = None
    as_json: options.AsJson = False


@dataclass
class FilesAtWork:
    """Files, the workers that work on them, and the profile that they are judged by."""

    inputs: list[Input]
    passed_over: list[Path]
    """Files in the folders that hold no media."""
    asked: FileOptions
    engine: workers.LocalEngine
    threads: ThreadPoolExecutor
    progress: FilesProgress | None
    codes: list[ExitCode] = field(default_factory=list)
    """The exit codes of the files that are finished, one for each."""
    done: int = 0
    """How many files are done, for the line that an interruption prints."""
    roles: set[Role | None] = field(default_factory=set)
    """What the finished files are for."""

    def __post_init__(self) -> None:
        self.profile = rules.load_profile(self.asked.profile)
        self.speaker = _speaker(self.asked)
        self.aside = self.progress.aside if self.progress else nullcontext
        """A context without progress bars, in which results can be printed."""
        self._with_consent = frozenset(path.parent for path in self.all_as(Role.CONSENT_VIDEO))

    def all_as(self, role: Role) -> frozenset[Path]:
        """The readable files that will be judged as this role."""
        files = [file.path for file in self.inputs if not file.problem]
        if self.asked.role is not None:
            return frozenset(files if self.asked.role is role else ())
        if role is Role.CONSENT_VIDEO:
            # Only its name makes a video a consent video, so that other files need not be read.
            files = [each for each in files if "consent" in each.stem.lower()]
        kinds = dict(zip(files, preflight.kinds_by(self.engine)(files), strict=True))
        roles = {each: preflight.role_of(kind, each.stem) for each, kind in kinds.items()}
        return frozenset(each for each, found in roles.items() if found is role)

    def arguments_for(self, path: Path) -> dict[str, Any]:
        """The arguments for a check of this file. With a consent video in its folder, other videos
        need not hold the statement."""
        return {
            "role": self.asked.role,
            "profile": self.profile,
            "speaker": self.speaker,
            "consent_apart": path.parent in self._with_consent,
            "engine": self.engine,
        }

    def each(self, work: Callable[[Path, Advance], Result]) -> Iterator[Result | rules.Report]:
        """The results of ``work`` for all files, in their order; as many run at once as there are
        jobs. If it raises, the result is a report that holds the error."""

        def one(file: Input) -> Result | PalprepError:
            if file.problem is not None:
                return FileMissing(file.problem)
            name = file.path.name
            try:
                with self.progress.at(name) if self.progress else nullcontext() as advance:
                    return work(file.path, advance or (lambda _: None))
            except PalprepError as error:
                return error
            except Exception as error:  # noqa: BLE001 -- the others are worked on all the same
                return workers.unexpected(error)

        for file, result in zip(self.inputs, self.threads.map(one, self.inputs), strict=True):
            if isinstance(result, PalprepError):
                self.codes.append(ExitCode.USAGE if file.problem else exit_code_of(result))
                role, profile = self.asked.role, self.profile.name
                yield rules.Report.of_error(file.path, result, role=role, profile=profile)
            else:
                yield result

    def count(self, *reports: rules.Report) -> None:
        """Add the exit code for a file, by the reports on it or on what was made of it."""
        doubtful = any(consent_rules.consent_doubts(each.checks, each.consent) for each in reports)
        self.roles |= {each.role for each in reports}
        passed = all(report.passed for report in reports)
        code = ExitCode.OK if passed else ExitCode.FAILED
        self.codes.append(ExitCode.IN_DOUBT if doubtful else code)

    def next_step(self, well: str) -> str:
        """The next step for the user; ``well`` if all files are as they should be."""
        if ExitCode.IN_DOUBT in self.codes:
            return DECIDE
        return f"Next: {well}" if set(self.codes) == {ExitCode.OK} else _MEND


@contextmanager
def files_at_work(
    paths: Iterable[Path], asked: FileOptions, *, done: str, writes: Path | None = None
) -> Iterator[FilesAtWork]:
    """The files at these paths, with workers, which may write only into the folder ``writes``. A
    signal ends the command, with a line that says how many files were ``done``, which is a word
    such as "checked". Without --json raises UsageError for paths at which nothing can be read."""
    limits = limits_of(asked.time_limit, asked.memory_limit)
    listed = [(path, tuple(files_below(path)) if is_folder(path) else (path,)) for path in paths]
    missing = [path for path, _ in listed if not os.path.lexists(path)]
    if missing and not asked.as_json:
        raise UsageError(" ".join(map(_not_there, missing)))
    inputs: list[Input] = []
    work = None

    def kept() -> str:
        count = work.done if work else 0
        where = f", and are kept in {writes}" if count and writes else ""
        return f"{count} of {len(inputs)} files were {done}{where}."

    # The engine closes before the threads, and so ends the calls that they wait for.
    with (
        ending_well(kept),
        ThreadPoolExecutor(asked.jobs) as threads,
        preflight.media_workers(asked.jobs, limits=limits) as engine,
        ExitStack() as stack,
    ):
        if len(missing) < len(listed):
            reads = [each for _, files in listed for each in files]
            model = [asked.model] if asked.model else []
            engine.may_open(reads=reads + model, writes=[writes] if writes else [])
            engine.begin()
        inputs, passed_over = _inputs(listed, engine)
        problems = [each.problem for each in inputs if each.problem is not None]
        if problems and not asked.as_json:
            raise UsageError(" ".join(problems))
        progress = None
        if is_watched() and not asked.as_json:
            # It loads rich while the first worker loads the decoders.
            from palprep.cli.progress import FilesProgress, bars_on_terminal

            progress = FilesProgress(stack.enter_context(bars_on_terminal()), len(inputs))
        work = FilesAtWork(inputs, passed_over, asked, engine, threads, progress)
        yield work
        videos = work.roles & {Role.TRAINING_VIDEO, Role.CONSENT_VIDEO}
        if work.speaker and Role.VOICE_AUDIO in work.roles and not videos:
            tell_warning(
                "No statement was listened for: --full-name is for videos. `palprep consent` "
                "listens to recordings, too."
            )


def limits_of(time_s: float | None, memory_bytes: int | None) -> workers.Limits:
    """The limits from the options. Raises UsageError for limits that no file could keep."""
    if time_s == 0:
        raise UsageError("--time-limit must be more than 0")
    if memory_bytes is not None and memory_bytes < 1 << 20:
        raise UsageError("--memory-limit must be at least 1MiB, and most files need 200MiB or more")
    given = {"time_s": time_s, "memory_bytes": memory_bytes}
    return workers.Limits.model_validate({name: each for name, each in given.items() if each})


def _inputs(
    listed: Sequence[tuple[Path, Sequence[Path]]], engine: workers.Engine
) -> tuple[list[Input], list[Path]]:
    """The files to read, and the files of folders that are passed over because they neither hold
    media nor have its suffix. ``listed`` has all files at each path."""
    found: list[Input] = []
    passed_over: list[Path] = []
    several = sum(is_folder(path) for path, _ in listed) > 1
    for path, files in listed:
        if is_folder(path):
            kinds = people.kinds_in(files, preflight.kinds_by(engine))
            nothing = Input(path, f"{path} is a folder without images, audio or videos.")
            top = Path(path.resolve().name) if several else Path()
            found += [
                Input(each, folder=top / each.parent.relative_to(path))
                for each, kind in kinds.items()
                if kind
            ] or [nothing]
            passed_over += [each for each, kind in kinds.items() if not kind]
        elif os.path.lexists(path):
            found.append(Input(path))
        else:
            found.append(Input(path, _not_there(path)))
    return found, passed_over


def require_there(*paths: Path) -> None:
    """Raise UsageError unless something is at each of these paths."""
    for path in paths:
        if not os.path.lexists(path):
            raise UsageError(_not_there(path))


def require_no_shards(directory: Path, slug: str | None = None) -> None:
    """Raise UsageError for a folder with shards: a journal beside theirs would keep out every later
    run of a shard. Somebody with this ``slug`` is in one of them."""
    parts = people.shards_in(directory)
    if parts:
        own = [each for each in parts if slug is None or each.holds(slug)] or parts
        raise UsageError(
            f"{directory} holds shards, and each has a journal of its own: name one of them, such "
            f"as {directory / own[0].folder}"
        )


def fix_command(paths: Sequence[Path], asked: FileOptions) -> str:
    """The command that fixes these files, with those options that are not the default."""
    words = ["palprep fix", paths_in_shell(paths)]
    for option, name in _NAMES.items():
        value = getattr(asked, name)
        if value != getattr(FileOptions, name):
            words += [f"--{option}", shlex.quote(f"{value}")]
    return " ".join((*words, "--into prepared"))


_NAMES = {"as": "role", "profile": "profile", "full-name": "name", "spoken-as": "spoken_as"}
_NAMES |= {"statement": "statement", "language": "language", "whisper-model": "model"}


def _not_there(path: Path) -> str:
    address = address_of(path)
    if address is not None:
        return f"{address} is an address, and no file: download it first."
    try:
        path.lstat()
    except PermissionError as error:
        return f"{path} cannot be read: {error.strerror}; check the permissions of its folder."
    except OSError:
        pass
    try:
        names = [each.name for each in path.parent.iterdir()]
    except OSError:
        names = []
    return f"{path} does not exist: {did_you_mean(path.name, names, 'check the path')}"


def _speaker(asked: FileOptions) -> facts.Speaker | None:
    """The person whose consent to listen for, None without a name. Raises UsageError for options
    that need a name, and ToolMissing if the model is missing."""
    statement, model = asked.statement, asked.model
    if asked.name is None:
        for option, given in (("statement", statement), ("spoken-as", asked.spoken_as)):
            if given is not None:
                raise UsageError(f"--{option} needs --full-name as well: whose consent is it?")
        return None
    # These load all decoders, which a command without a name leaves to its workers.
    return facts.Speaker(
        full_name=asked.name,
        statement=wording.read_statement(statement) if statement else None,
        language=asked.language,
        whisper_model=model and consent.require_model(model),
        spoken_as=asked.spoken_as,
    )
