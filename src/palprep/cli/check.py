"""palprep check, fix, best and explain: judge files, fix them and prove the result, find the
fittest portrait among many, and explain a check."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any, NamedTuple

import typer

from palprep import dossier, facts, fixes, preflight, rules, storage
from palprep.batch import people
from palprep.cli import options
from palprep.cli.exits import ExitCode, ending_well, worst
from palprep.cli.files import FileOptions, files_at_work, fix_command, limits_of, require_there
from palprep.cli.output import SAME, print_error, print_json, show, tell, tell_detail, tell_warning
from palprep.errors import PalprepError, UnsupportedMedia, UsageError
from palprep.media import sources
from palprep.rules import plans, texts
from palprep.views import terminal
from palprep.vocabulary import DEFAULT_PROFILE, Kind, Outcome, Role, did_you_mean

_ENDINGS = {
    Outcome.PASS: "passed",
    Outcome.WARN: "passed with warnings",
    Outcome.FAIL: "failed",
    None: "could not be read",
    Outcome.UNKNOWN: "could not be judged",
}

REJECTED = "rejected"
"""The subfolder for new files that still fail a check."""

EXAMPLES = (
    "palprep check portrait.jpg recording.m4a",
    "palprep check photos --jobs 4 --json > checks.jsonl",
    'palprep check training.mp4 --full-name "Ada Lovelace" --verbose',
    "palprep fix portrait.heic recording.m4a --into prepared",
    "palprep fix photos --into prepared",
    'palprep fix training.mp4 --into prepared --full-name "Ada Lovelace" --split-consent',
    "palprep best photos",
    "palprep best first.jpg second.heic",
    "palprep best training.mp4 --per-second 4 --top 3",
    "palprep best training.mp4 --into portraits",
    "palprep explain",
    "palprep explain video_duration --profile own.toml",
)


def check(
    paths: options.Paths,
    asked: FileOptions,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Read headers and a few key frames; what needs more is unknown."
        ),
    ] = False,
    verbose: options.Verbose = False,
) -> None:
    """In a folder, every image, audio and video is checked, also in the folders below it. --verbose
    also lists what passed, with ids, measures, limits and sources. A training video need not hold
    the consent statement when a consent video is in the same folder. The exit code is 1 when a file
    fails a check or cannot be read, and 4 when the consent that was listened for is in doubt."""
    endings: Counter[Outcome | None] = Counter()
    fixable = False
    with files_at_work(paths, asked, done="checked") as work:
        for report in work.each(
            lambda path, _: preflight.check(path, **work.arguments_for(path), quick=quick)
        ):
            work.count(report)
            endings[None if report.error else report.verdict] += 1
            mended = plans.answered(report, work.profile)
            failed = {check.id for check in report.told(Outcome.FAIL)}
            fixable = fixable or (bool(mended) and failed <= mended)
            with work.aside():
                if asked.as_json:
                    print_json(report.to_json())
                else:
                    show(terminal.report_view(report, verbose=verbose))
            work.done += 1
    say = tell_detail if asked.as_json else tell
    say(_summary(endings, work.passed_over))
    well = "nothing to fix. `palprep run FOLDER` sends what is in a folder of people."
    say(f"Next: {fix_command(paths, asked)}" if fixable else work.next_step(well))
    raise typer.Exit(worst(work.codes))


def _summary(endings: Counter[Outcome | None], passed_over: Sequence[Path]) -> str:
    """The number of files by their outcome, and the files without media in the folders: ``3 files:
    1 passed, 2 failed.``"""
    counts = ", ".join(f"{endings[each]} {how}" for each, how in _ENDINGS.items() if endings[each])
    summary = f"{texts.counted(endings.total(), 'file', 'files')}: {counts}."
    if not passed_over:
        return summary
    names = texts.some_of([path.name for path in passed_over], most=3)
    return f"{summary} Passed over, without media: {names}."


def fix(
    paths: options.Paths,
    into: Annotated[Path, typer.Option(help="Folder for the new files.")],
    asked: FileOptions,
    split_consent: Annotated[
        bool,
        typer.Option(
            "--split-consent",
            help="Also write a consent video: the part of the training video with the statement.",
        ),
    ] = False,
    verbose: options.Verbose = False,
) -> None:
    """A new file that still fails a check goes into the folder rejected within --into. With
    --full-name, a video is cut so that it opens with the consent statement, and a dossier of the
    evidence is written next to it. Source files are never changed. The exit code is 1 when a file
    cannot be fixed, or still fails a check, and 4 when the consent in a new file is in doubt."""
    if split_consent and asked.name is None:
        raise UsageError("--split-consent needs --full-name: whose consent is it?")
    made: list[preflight.Prepared] = []
    failed = 0
    with files_at_work(paths, asked, done="fixed", writes=into) as work:
        # New files keep the layout of the given folders.
        folders = {each.path: each.folder or Path() for each in work.inputs}
        holders = work.all_as(Role.TRAINING_VIDEO) if split_consent else frozenset()
        if split_consent and not holders:
            raise UsageError("--split-consent needs a training video that holds the statement")
        if not asked.as_json:  # With --json the object of each file tells the error.
            storage.output_folder(into)

        def fixed(path: Path, advance: Callable[[float], None]) -> tuple[_Fixed, ...]:
            prepared = preflight.prepare(
                path,
                **work.arguments_for(path),
                into=into / folders[path],
                split_consent=path in holders,
                progress=advance,
            )
            both = (prepared, *([prepared.consent] if prepared.consent else []))
            rejected = into / REJECTED / folders[path]
            return tuple(_keep(each, work.speaker, rejected) for each in both)

        for found in work.each(fixed):
            with work.aside():
                if isinstance(found, rules.Report):
                    failed += 1
                    if asked.as_json:
                        print_json(found.to_json() | {"prepared": None, "fixes": []})
                    elif found.error is not None:
                        print_error(_located(found.path, found.error.message))
                    continue
                made += [each.prepared for each in found]
                reports = [each.prepared.report for each in found]
                work.count(*reports)
                work.done += all(each.passed for each in reports)
                _show(found, as_json=asked.as_json, verbose=verbose)
    say = tell_detail if asked.as_json else tell
    say(_fix_summary(made, into / REJECTED, failed=failed))
    say(work.next_step(f"publish what is in {into}; or let `palprep run FOLDER` do all steps."))
    raise typer.Exit(worst(work.codes))


def _located(path: str, message: str) -> str:
    """The message with the whole path of the file: phones give the same name to many."""
    name = PurePath(path).name
    return message.replace(name, path, 1) if message.startswith(name) else f"{path}: {message}"


class _Fixed(NamedTuple):
    """A new file, and the dossier next to it."""

    prepared: preflight.Prepared
    dossier: Path | None


def _keep(prepared: preflight.Prepared, speaker: facts.Speaker | None, rejected: Path) -> _Fixed:
    """Move a new file that is not fit into ``rejected``, and write its dossier if there is a
    speaker, whose consent was listened for."""
    if not prepared.passed:
        before, path = prepared.path, fixes.move_into(prepared.path, rejected)
        prepared = prepared.relocated(lambda each: path if each == before else each)
    if speaker is None:
        return _Fixed(prepared, None)
    now = dt.datetime.now(dt.UTC)
    kept = dossier.keep_dossier(prepared, person=speaker.full_name, written_at=now)
    return _Fixed(prepared, kept)


def _show(fixed: Sequence[_Fixed], *, as_json: bool, verbose: bool) -> None:
    if as_json:
        entry, *clips = map(_entry, fixed)
        print_json(entry | ({"consent": clips[0]} if clips else {}))
        return
    for each in fixed:
        show(terminal.prepared_view(each.prepared, each.dossier, verbose=verbose))


def _entry(fixed: _Fixed) -> dict[str, Any]:
    prepared, kept = fixed
    done = [each.to_json() for each in prepared.fixes]
    entry = prepared.report.to_json() | {"prepared": str(prepared.path), "fixes": done}
    return entry | ({"dossier": str(kept)} if kept else {})


def _fix_summary(made: Sequence[preflight.Prepared], rejected: Path, *, failed: int) -> str:
    """The number of new files that are fit, of those in ``rejected``, and of ``failed`` sources."""
    # Sources with the same bytes give one new file.
    made = [*{each.path: each for each in made}.values()]
    fit = sum(each.report.passed for each in made)
    files = texts.counted(fit, "new file is", "new files are") if fit else "No file is"
    sentences = [f"{files} fit."]
    if fit < len(made):
        apart = texts.counted(len(made) - fit, "new file is", "new files are")
        sentences.append(f"{apart} set apart in {rejected}.")
    if failed:
        sentences.append(f"{texts.counted(failed, 'file', 'files')} could not be fixed.")
    return " ".join(sentences)


def best(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Images, videos, or folders of them."),
    ],
    top: Annotated[int, typer.Option(min=1, help="How many to show.")] = 5,
    per_second: Annotated[
        float, typer.Option(min=0.01, max=60, help="Frames of a video to look at.")
    ] = 2.0,
    into: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Put the best one here; a video's frame as a PNG."),
    ] = None,
    profile: options.ProfileName = DEFAULT_PROFILE,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    as_json: options.AsJson = False,
) -> None:
    """Those with the fewest failing checks come first, then those with the fewest warnings, then
    the fittest. --json prints all of them. Exit code 1 when even the best fails a check."""
    limits = limits_of(time_limit, memory_limit)
    require_there(*paths)
    one_file = len(paths) == 1 and not storage.is_folder(paths[0])
    passed_over: dict[str, PalprepError] = {}
    with (
        ending_well(lambda: "Nothing was ranked, and nothing was written."),
        preflight.media_workers(1, limits=limits) as engine,
    ):
        engine.may_open(reads=paths, writes=[into] if into else [])
        engine.begin()
        # Loaded while the worker loads its decoders.
        from palprep.cli.progress import FilesProgress, bars_on_terminal

        judged_by = rules.load_profile(profile)
        names = texts.some_of([each.name for each in paths])
        with bars_on_terminal(wanted=not as_json) as bars, FilesProgress(bars, 1).at(names):
            ranked = preflight.pick_best(
                paths[0] if len(paths) == 1 else paths,
                profile=judged_by,
                per_second=per_second,
                engine=engine,
                passed_over=None if one_file else passed_over.__setitem__,
            )
            best = ranked[0]
            kept = None
            if into is not None:
                picked = sources.Source.of(best.path)
                kept = engine.run(fixes.keep_picked, picked, best.at_s, into)
    for name, error in passed_over.items():
        promises = people.promised_kind(name) in {Kind.IMAGE, Kind.VIDEO}
        if promises or not isinstance(error, UnsupportedMedia):
            tell_warning(f"Passed over: {error.message}")
    if as_json:
        for candidate in ranked:
            print_json(candidate.to_json())
    else:
        show(terminal.ranking_table(ranked, top))
        tell(_next(ranked, kept, profile))
    raise typer.Exit(ExitCode.FAILED if ranked[0].failed else ExitCode.OK)


def _next(ranked: Sequence[preflight.Candidate], kept: Path | None, profile: str) -> str:
    """How many candidates pass, and the next step with the best, or with its copy ``kept``."""
    best, fit = ranked[0], sum(not each.failed for each in ranked)
    frames = best.at_s is not None
    alone = frames and None not in {each.at_s for each in ranked}
    count = texts.counted(len(ranked), *(("frame", "frames") if alone else ("image", "images")))
    passing = f"{fit} of {count} {'passes' if fit == 1 else 'pass'}."
    if best.failed:
        return f"None of {count} passes. Next: take another one, as the failing checks say."
    if frames and kept is None:
        return f"{passing} Next: {SAME} with --into FOLDER, which keeps it."
    return f"{passing} Next: {fix_command([kept or Path(best.path)], FileOptions(profile=profile))}"


def explain(
    check_id: Annotated[
        str | None,
        typer.Argument(
            help="The id of a check; all when left out.", autocompletion=lambda: sorted(rules.RULES)
        ),
    ] = None,
    profile: options.ProfileName = DEFAULT_PROFILE,
    as_json: options.AsJson = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also show the thresholds behind it.")
    ] = False,
) -> None:
    chosen = rules.load_profile(profile)
    if check_id is not None and check_id not in rules.RULES:
        hint = did_you_mean(check_id, rules.RULES, "`palprep explain` lists all")
        raise UsageError(f"There is no check {check_id!r}; {hint}")
    ids = [check_id] if check_id else [*rules.RULES]
    entries = [rules.entry_of(rule_id, chosen) for rule_id in ids]
    if as_json:
        for entry in entries:
            print_json(entry.to_json())
    elif check_id:
        show(terminal.explained_check(entries[0], verbose=verbose))
        if entries[0].words and not verbose:
            tell("The thresholds behind it are shown with --verbose.")
        tell("Next: `palprep check PATH --verbose` shows what was measured.")
    else:
        show(terminal.check_list(entries))
        tell("Next: palprep explain CHECK_ID")
