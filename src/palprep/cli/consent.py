"""palprep statement, consent, decide and dossier: print the words to say, verify that they were
spoken, record a decision about doubts, and examine the evidence."""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from palprep import (
    batch,
    consent as statements,
    dossier as dossiers,
    journal as journals,
    pipelines,
    preflight,
    storage,
    views,
)
from palprep.batch import people
from palprep.cli import options
from palprep.cli.exits import ExitCode, ending_well, worst
from palprep.cli.files import (
    DECIDE,
    FileOptions,
    fix_command,
    limits_of,
    require_no_shards,
    require_there,
)
from palprep.cli.output import SAME, paths_in_shell, print_error, print_json, print_line, show, tell
from palprep.consent import wording
from palprep.errors import PalprepError, UsageError
from palprep.media import sources
from palprep.rules import texts
from palprep.views import terminal
from palprep.vocabulary import Kind, Outcome

EXAMPLES = (
    'palprep statement "Ada Lovelace"',
    'palprep statement "Ada Lovelace" --code --journal palprep-out',
    'palprep consent consent.mp4 --full-name "Ada Lovelace"',
    'palprep consent consent.mp4 --full-name "Ada Lovelace" --statement own.txt --json',
    'palprep decide palprep-out ada --accept --by "Grace Hopper" --because "every word is there"',
    'palprep decide palprep-out ada --refuse --by "Grace Hopper" --because "it is somebody else"',
    "palprep dossier palprep-out --export consent.html",
    "palprep dossier palprep-out jane-carter",
    'palprep dossier prepared/training.consent.json --revoke --note "by letter"',
)


def statement(
    full_name: Annotated[
        str, typer.Argument(metavar="FULL_NAME", help="The full name that must be said.")
    ],
    statement: options.Statement = None,
    language: options.Language = "en",
    code: Annotated[
        bool, typer.Option("--code", help="Also draw three words to say after the statement.")
    ] = False,
    journal: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The output folder whose journal notes the code."),
    ] = None,
    valid: Annotated[
        float | None,
        typer.Option(
            parser=options.seconds,
            metavar="DURATION",
            help="How long the code is valid: 10m, 2h. By default 30 minutes.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Nobody knew a fresh code before it was drawn, so a recording that holds it was made
    afterwards. The journal notes it with the name and the time. A newer code takes the place of an
    older one."""
    if code != (journal is not None):
        raise UsageError("A code is noted in a journal: give --code and --journal DIR, or neither")
    if valid is not None and not (code and valid):
        raise UsageError("--valid says how long a code is valid: more than 0, and with --code")
    if code and language != "en":
        raise UsageError("Codes are English words: leave --code out, or the other language")
    own = wording.read_statement(statement) if statement else None
    required = wording.statement_for(full_name, own, language=language)
    given = None
    if journal is not None:
        require_no_shards(journal)
        with journals.Journal.of(journal, create=True) as opened:
            given = journals.give_code(opened, full_name, valid_s=valid or wording.VALID_S)
    if as_json:
        shown = given.to_json() if given else None
        print_json({"full_name": full_name, "statement": required.text, "code": shown})
        return
    print_line(required.text)
    if given is not None:
        print_line(" ".join(given.words))
        tell(
            "Next: record the statement, a breath, then these words, before "
            f"{texts.stamp(given.ends_at)}."
        )


def consent(
    file: Annotated[Path, typer.Argument(help="A video or a recording.")],
    name: Annotated[
        str, typer.Option("--full-name", "--name", help="The full name that must be said.")
    ],
    spoken_as: options.SpokenAs = None,
    statement: options.Statement = None,
    language: options.Language = "en",
    model: options.WhisperModel = None,
    journal: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Listen for the fresh code that its journal noted."),
    ] = None,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    as_json: options.AsJson = False,
) -> None:
    """Whisper listens. If it leaves a doubt, Moonshine listens, too. Only words are judged: what
    looks at face, lips and voice is `palprep check` and `palprep fix`. The exit code is 0 only if
    the statement was spoken, 4 if that is in doubt, and 1 if the outcome is unknown."""
    limits = limits_of(time_limit, memory_limit)
    with _error_in_json(file, as_json=as_json):
        require_there(file)
        with (
            ending_well(lambda: "Nothing was verified."),
            preflight.media_workers(1, limits=limits) as engine,
            contextlib.ExitStack() as stack,
        ):
            engine.may_open(reads=[file, *([model] if model else [])])
            engine.begin()
            required = wording.read_statement(statement) if statement else None
            source, code = sources.Source.of(file), None
            noted = stack.enter_context(journals.Journal.of(journal)) if journal else None
            if noted is not None:
                asked = {"name": file.name, "sha256": source.sha256}
                code = journals.asked_code(noted, name, spoken_as, **asked)
            facts = preflight.run_in(
                engine,
                preflight.verify_consent,
                source,
                full_name=name,
                spoken_as=spoken_as,
                statement=required,
                language=language,
                whisper_model=model,
                code=code,
            )
            if noted is not None:
                journals.note_code(noted, facts, name=file.name, sha256=source.sha256)
        if as_json:
            print_json(facts.shown(str(file)))
        else:
            show(terminal.consent_view(file, facts))
            heard = FileOptions(
                name=name, spoken_as=spoken_as, statement=statement, language=language, model=model
            )
            tell(_after_listening(facts, file, fix_command([file], heard)))
    codes = {Outcome.PASS: ExitCode.OK, Outcome.WARN: ExitCode.IN_DOUBT}
    raise typer.Exit(codes.get(facts.outcome, ExitCode.FAILED))


@contextlib.contextmanager
def _error_in_json(file: Path, *, as_json: bool) -> Iterator[None]:
    """With ``as_json``, also print an error as the object of the file."""
    try:
        yield
    except PalprepError as error:
        if as_json:
            empty = {"transcript": "", "starts_at": None, "ends_at": None, "words": list[Any]()}
            heard = {"outcome": Outcome.UNKNOWN, **empty, "reasons": [error.message]}
            print_json({"path": str(file), **heard, "error": _shown_error(error)})
        raise


def _shown_error(error: PalprepError) -> dict[str, str]:
    return {"code": error.code, "message": error.message}


def _after_listening(facts: statements.ConsentFacts, file: Path, fixing: str) -> str:
    if facts.outcome is Outcome.UNKNOWN:
        return f"Next: do what the reasons say, and {SAME}."
    if facts.outcome is Outcome.WARN:
        return DECIDE
    if not facts.outcome.passed:
        return f"Next: record the statement again, word for word, and {SAME}."
    if people.promised_kind(file.name) is Kind.AUDIO:
        return "Only the words were judged, and consent must be given on video. Next: film it."
    return f"Only the words were judged. Next: {fixing}"


def decide(
    directory: options.Output,
    person: options.Person,
    accept: Annotated[
        bool, typer.Option("--accept", help="The consent is given: the doubts are answered.")
    ] = False,
    refuse: Annotated[
        bool,
        typer.Option("--refuse", help="It is not given: the statement must be recorded again."),
    ] = False,
    by: Annotated[str, typer.Option(metavar="NAME", help="Who decides. Nothing proves it.")] = "",
    because: Annotated[str, typer.Option(metavar="TEXT", help="What was heard and seen.")] = "",
    as_json: options.AsJson = False,
) -> None:
    """`palprep status` says what to listen to. The journal and the dossier keep the decision, with
    the files and the doubts that it was taken on. It no longer counts when one of the files
    changes, or when there is a new doubt. A later decision replaces it."""
    require_there(directory)
    if accept == refuse:
        raise UsageError("Say --accept or --refuse")
    decision = pipelines.decide(directory, person, accept=accept, by=by, because=because)
    if as_json:
        print_json(decision.to_json())
    else:
        told = (decision.words, *(each.words for each in decision.evidence.doubts))
        print_line("\n  ".join(told))  # A run may have found other doubts since somebody looked.
    again = "start `palprep run` again." if accept else "have the statement recorded again."
    tell(f"The name is a claim: nothing proves who decided. Next: {again}")


def dossier(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="Dossiers, or output folders of runs. After one such folder, people of its run.",
            show_default=False,
        ),
    ],
    source: Annotated[
        Path | None,
        typer.Option(help="The source of the prepared video: also compare it."),
    ] = None,
    store: options.Store = None,
    expires: Annotated[
        dt.datetime | None,
        typer.Option(metavar="DATE", help="Record until when the consent holds."),
    ] = None,
    revoke: Annotated[
        bool, typer.Option("--revoke", help="Record that the person took the consent back.")
    ] = False,
    note: Annotated[str | None, typer.Option(help="The reason, kept with the entry.")] = None,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="Write one HTML file to read, print and hand on."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """--expires and --revoke add an entry. No entry is ever removed. --export only reads the
    dossiers. The exit code is 1 if something was changed, or the consent does not hold now. It is 4
    if a doubt leaves it open."""
    now = dt.datetime.now(dt.UTC)
    # No entry can be removed: check the arguments before any is added.
    if export is not None:
        views.require_page_name(export)
    if note is not None and not (revoke or expires):
        raise UsageError("--note is kept with an entry: give --revoke or --expires, too")
    kept = _dossiers(paths)
    if (revoke or expires or source) and len(kept) != 1:
        raise UsageError("--revoke, --expires and --source are about one dossier: name it")
    bucket = None if store is None else storage.Bucket(store)
    examined = []
    readable = _readable(kept, as_json=as_json, restored=bool(revoke or expires))
    # The journal of the dossiers need not lie above them.
    folder = paths[0] if paths[0].is_dir() else None
    add = functools.partial(pipelines.add_to_dossier, folder=folder)
    with contextlib.ExitStack() as until_exported:
        for path, recorded in readable.items():
            if expires is not None:
                until = expires if expires.tzinfo else expires.replace(tzinfo=dt.UTC)
                add(path, kind="expiry", expires_at=until, written_at=now, note=note)
            if revoke:
                add(path, kind="revocation", written_at=now, note=note)
            with contextlib.ExitStack() as while_examined:
                stack = while_examined if export is None else until_exported
                video = stack.enter_context(batch.video_at_hand(path, bucket))
                found = dossiers.examine_dossier(path, source=source, video=video, kept=recorded)
            examined.append(found)
            if as_json:
                print_json(_entry(found, now))
            else:
                show(terminal.dossier_view(found, now))
        if export is not None:
            views.export_dossiers(examined, export, now=now)
    words = Counter(["flawed"] * (len(kept) - len(readable)))
    words.update(views.standing(each, now).word.lower() for each in examined)
    if not as_json or export is not None:
        tell(_next(examined, words, paths, store, export))
    ended = ExitCode.OK if revoke else ExitCode.FAILED
    codes = {
        "holds": ExitCode.OK,
        "replaced": ExitCode.OK,
        "void": ended,
        "open": ExitCode.IN_DOUBT,
    }
    raise typer.Exit(worst(codes.get(word, ExitCode.FAILED) for word in words))


_Kept: TypeAlias = "dict[Path, dossiers.Dossier | None]"
"""Dossiers by path, each as it is in the journal that was named or lies above it."""


def _dossiers(paths: list[Path]) -> _Kept:
    found: _Kept = {}
    folder, *named = paths
    places = [each for each in named if each.is_file() or (each / journals.JOURNAL_NAME).is_file()]
    if named and folder.is_dir() and not places:
        return {**batch.kept_dossiers(folder, [*map(str, named)])}
    recorded = batch.recorded_of(each for each in paths if not each.is_dir())
    for path in paths:
        if recorded.get(path) is None:
            require_there(path)
        kept = batch.kept_dossiers(path) if path.is_dir() else {path: recorded[path]}
        if not kept:
            raise UsageError(f"The runs into {path} did not listen for any consent")
        found |= kept
    return found


def _readable(kept: _Kept, *, as_json: bool, restored: bool) -> _Kept:
    """The dossiers that can be read. The errors of the others are printed; that of one alone is
    raised. What only the journal still has is ``restored``: no end of a consent waits for a file.
    """
    found: _Kept = {}
    for path, recorded in kept.items():
        try:
            if restored and recorded is not None and not path.exists():
                dossiers.put_back(path, recorded)
            dossiers.read_dossier(path)
        except PalprepError as error:
            if len(kept) == 1:
                raise
            if as_json:
                state = {"intact": False, "in_force": False, "error": _shown_error(error)}
                print_json({"path": str(path), **state})
            else:
                print_error(error.message)
        else:
            found[path] = recorded
    return found


def _entry(examined: dossiers.ExaminedDossier, now: dt.datetime) -> dict[str, Any]:
    dossier = examined.dossier
    return {
        "path": str(examined.path),
        "person": dossier.evidence.person,
        "intact": not examined.flaws,
        "in_force": dossier.in_force(now),
        "open": dossier.is_open(now),
        "flaws": [flaw._asdict() for flaw in examined.flaws],
        **dossier.to_json(),
    }


def _next(
    examined: Sequence[dossiers.ExaminedDossier],
    words: Counter[str],
    paths: Sequence[Path],
    store: str | None,
    export: Path | None,
) -> str:
    """The number of dossiers by their standing (``words``), and the next step with them."""
    counts = ", ".join(f"{count} {word}" for word, count in words.items())
    files = [file for each in examined for file in each.files]
    if export is not None:
        step = f"open {paths_in_shell([export])}"
    elif any(file.what == "output" and file.state == "missing" for file in files):
        step = (
            "put the missing video next to its dossier; where a cluster prepared it, name the "
            "bucket with --store."
        )
    elif words["flawed"]:
        step = "find out what was changed. Until then, use none of its files."
    elif words["open"]:
        step = "listen to what is open, and say with `palprep decide` what you heard."
    elif words["void"]:
        step = "where a consent does not hold, delete what was made of the person."
    else:
        where = "" if store is None else f" --store {shlex.quote(store)}"
        step = f"palprep dossier {paths_in_shell(paths)}{where} --export consent.html"
    return f"{texts.counted(words.total(), 'dossier', 'dossiers')}: {counts}. Next: {step}"
