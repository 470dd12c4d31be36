"""Reports, timelines, people and rankings as terminals show them, on a console that is safe."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from palprep import preflight, rules
from palprep.escaping import escaped, escaped_line
from palprep.facts import FacingLimits, Timeline, share_held
from palprep.journal import runs
from palprep.rules import texts
from palprep.values import Outcome
from palprep.views.drawings.timeline_rows import rows, tick_every
from palprep.views.format import by_file, position
from palprep.views.outcomes import OUTCOMES, STATUSES

_NAMED = 3
"""Checks that follow from a finding: so many are named, and the others counted."""

INDENT = 8
"""Cells in front of everything that belongs to the file named above it."""

_LABEL = 9
"""Cells of a timeline's labels."""

_WIDEST = 120
"""The most cells of a timeline. Wider rows are harder to follow."""

_TICK_CELLS = 10


class SafeConsole(Console):
    """Writes out control characters and marks of direction, which rich passes through. Texts are
    changed before they are wrapped, so that tables keep their columns; the rest when it is drawn.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        if isinstance(renderable, Text) and renderable.plain != escaped(renderable.plain):
            text, renderable = renderable, renderable.blank_copy()
            for piece in text.render(self):
                renderable.append(escaped(piece.text), piece.style)
        for segment in super().render(renderable, options):
            if segment.control or segment.text == escaped(segment.text):
                yield segment
            else:
                yield Segment(escaped(segment.text), segment.style)


def report_view(report: rules.Report, *, verbose: bool = False) -> RenderableType:
    """A report: the verdict, then each finding once, and what to do about it. ``verbose`` lists the
    passed checks as well, and adds ids, measures, limits and their sources."""
    role = f"{report.role.value}, " if report.role else ""
    verdict = report.verdict
    style = OUTCOMES[verdict].style
    heading = headed(verdict.value.upper(), style, report.path, f"{role}{report.profile}")
    if report.error is not None:
        return Group(heading, indented(Text(report.error.message)))
    listed = [
        check
        for outcome in OUTCOMES
        if verbose or outcome is not Outcome.PASS
        for check in report.told(outcome)
    ]
    findings = [_finding(report, each, verbose=verbose) for each in listed]
    line = report.facts.timeline if report.facts else None
    passed = texts.counted(len(report.having(Outcome.PASS)), "check", "checks")
    return Group(
        heading,
        *([indented(TerminalTimeline(line, rules.facing_limits(report)))] if line else []),
        *([indented(margin(9, *findings))] if findings else []),
        *([] if verbose else [indented(Text(f"{passed} passed", "dim"))]),
    )


def prepared_view(
    prepared: preflight.Prepared, dossier: Path | None = None, *, verbose: bool = False
) -> RenderableType:
    """The report of a prepared file, what was fixed, and where its dossier is."""
    lines = [f"fixed {done.id}: {done.did}" for done in prepared.fixes]
    if not lines and prepared.report.passed:
        lines = ["Nothing to fix: this is a copy."]
    elif not lines:
        lines = ["palprep can fix none of this: this is a copy."]
    if dossier is not None:
        lines.append(f"consent dossier: {dossier}")
    report = report_view(prepared.report, verbose=verbose)
    return Group(report, *(indented(Text(line)) for line in lines))


def results_view(results: Collection[runs.PersonStanding]) -> RenderableType:
    """Each person's status, and below the name what was created, and the reasons."""
    longest = max((len(STATUSES[each.status].word) for each in results), default=0)
    people = margin(longest + 2)
    for result in results:
        look = STATUSES[result.status]
        lines = [
            Text(escaped_line(result.person), "bold"),
            *_made(result),
            *(Text(escaped_line(each)) for each in by_file(result.reasons)),
        ]
        people.add_row(Text(look.word.lower(), look.style), Text("\n").join(lines))
    return people


def ranking_table(ranked: Sequence[preflight.Candidate], top: int) -> Table:
    """The ``top`` best candidates, best first; of near copies only the best one. Where files have
    the same name, their paths are shown."""
    paths = {each.path for each in ranked}
    unique = len({Path(path).name for path in paths}) == len(paths)
    frames = any(each.at_s is not None for each in ranked)
    table = _table("rank", "image", *(["at"] if frames else []), "fitness", "near copies")
    table.add_column("fails", ratio=1, overflow="fold")
    table.add_column("warns", ratio=1, overflow="fold")
    leaders = [(rank, each) for rank, each in enumerate(ranked) if each.duplicate_of is None]
    for rank, candidate in leaders[:top]:
        table.add_row(
            str(rank + 1),
            Text(Path(candidate.path).name if unique else candidate.path),
            *([position(candidate.at_s, digits=2)] if frames else []),
            f"{candidate.fitness:.2f}",
            str(sum(each.duplicate_of == rank for each in ranked)),
            Text(_labels(candidate.failed), OUTCOMES[Outcome.FAIL].style),
            Text(_labels(candidate.warned), OUTCOMES[Outcome.WARN].style),
        )
    return table


def check_list(entries: Sequence[rules.CatalogueEntry]) -> Table:
    """A line for each check: its id, its label, and the roles that the profile asks it of."""
    table = _table()
    # Users type the id, so it is never cut.
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for entry in entries:
        roles = ", ".join(entry.roles) or "not in this profile"
        table.add_row(Text(entry.id, "bold"), entry.label, Text(roles, "dim"))
    return table


def explained_check(entry: rules.CatalogueEntry, *, verbose: bool = False) -> RenderableType:
    """One check: its text, sentences, prediction, and limits with their sources. ``verbose`` adds
    the thresholds behind it, and notes on limits."""
    table = _table()
    for each in entry.sentences:
        sentence = each.sentence.replace("{", "<").replace("}", ">")
        table.add_row(Text(each.outcome, _style(each.outcome)), sentence)
    if entry.predicts:
        table.add_row("predicts", Text(entry.predicts))
    table.add_row("to do", Text(entry.advice))
    parts: list[RenderableType] = [
        Text.assemble((entry.id, "bold"), f"  {entry.label}"),
        Padding(Text(entry.text), (1, 0, 1, 2)),
        Padding(table, (0, 0, 1, 2)),
    ]
    if not entry.limits:
        parts.append(Padding(Text(f"Profile {entry.profile} does not ask for it."), (0, 0, 0, 2)))
    for limit in entry.limits:
        line = Text(f"{limit.role}: {limit.limit}, else ").append(limit.level, _style(limit.level))
        parts += _sourced(line, limit, noted=verbose)
    for word in entry.words if verbose else ():
        parts += _sourced(Text(f"{word.id}: {word.value:g}"), word, word.text)
    return Group(*parts)


def _style(outcome: str) -> str:
    """The colour of an outcome; none for a sentence that is said of two."""
    return OUTCOMES[Outcome(outcome)].style if outcome in {*Outcome} else ""


def _sourced(
    line: Text, limit: rules.CatalogueLimit | rules.WordLimit, *meaning: str, noted: bool = True
) -> Iterator[Padding]:
    """The line, and below it what it means and where the number comes from."""
    yield Padding(line, (0, 0, 0, 2))
    for text in meaning:
        yield Padding(Text(text), (0, 0, 0, 6))
    for origin in (f"{limit.source} ({limit.date})", limit.note if noted else None):
        if origin:
            yield Padding(Text(origin, "dim"), (0, 0, 0, 6))


def _labels(check_ids: Iterable[str]) -> str:
    return ", ".join(rules.RULES[each].texts.label for each in check_ids)


def headed(word: str, style: str, path: str, more: str = "") -> RenderableType:
    """The first line about a file: a word in the margin, its path, and ``more`` about it."""
    named = Text.assemble((escaped_line(path), "bold"), (f"  {more}" if more else "", "dim"))
    return margin(INDENT, (Text(word, style), named))


def indented(renderable: RenderableType) -> Padding:
    return Padding(renderable, (0, 0, 0, INDENT))


def _finding(report: rules.Report, check: rules.Check, *, verbose: bool) -> tuple[Text, Text]:
    text = Text(report.why(check), "bold" if check.outcome is Outcome.FAIL else "")
    if check.advice:
        text = Text.assemble(text, " ", check.advice)
    following = report.following(check)
    if check.outcome is Outcome.UNKNOWN:
        labels = ", ".join(each.label for each in (check, *following))
        text.append(f"\nNot measured: {labels}", "dim")
    elif following:
        labels = texts.some_of([each.label for each in following], _NAMED)
        text.append(f"\nThe same cause: {labels}", "dim")
    if verbose:
        for each in (check, *following):
            limit = f"limit: {each.limit}" if each.limit is not None else None
            numbers = (each.id, each.measure_words, limit, each.source)
            text.append(f"\n{' · '.join(filter(None, numbers))}", "dim italic")
    return Text(check.outcome.value, OUTCOMES[check.outcome].style), text


def _table(*columns: str) -> Table:
    """A table without lines; the names of its ``columns`` stand above them, if there are any."""
    table = Table(
        box=None,
        padding=(0, 2, 0, 0),
        pad_edge=False,
        header_style="dim",
        show_header=bool(columns),
    )
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def margin(width: int, *rows: tuple[str | Text, Text]) -> Table:
    """Words in a margin of ``width`` cells, and what belongs to each next to it."""
    table = Table(box=None, show_header=False, padding=0)
    table.add_column(width=width, no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for word, text in rows:
        table.add_row(word, text)
    return table


def _made(result: runs.PersonStanding) -> Iterator[Text]:
    created = (
        ("voice", result.voice_id, result.voice_status),
        ("replica", result.replica_id, result.replica_status),
    )
    parts = [
        Text.assemble(f"{what} {made} ", (str(state), "dim"))
        for what, made, state in created
        if made
    ]
    if parts:
        yield Text(", ").join(parts)


@dataclass(frozen=True)
class TerminalTimeline:
    """Rows as wide as the console allows. A cell stands for one second or more, and the height of
    its bar is the share of them in which the label holds."""

    line: Timeline
    facing: FacingLimits

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        cells = max(1, min(options.max_width - _LABEL - 1, _WIDEST))
        step = max(1, math.ceil(len(self.line.seconds) / cells))
        count = math.ceil(len(self.line.seconds) / step)
        drawn = False
        bars, unknown = (" .:-=+*##", "?") if options.ascii_only else (" ▁▂▃▄▅▆▇█", "·")
        for row in rows(self.line, self.facing):
            starts = range(0, len(row.values), step)
            shares = [share_held(row.values[start : start + step]) for start in starts]
            # A few key frames are no timeline.
            if sum(share is not None for share in shares) * 2 > len(shares):
                bar = "".join(
                    unknown if share is None else bars[math.ceil(share * (len(bars) - 1))]
                    for share in shares
                )
                style = "rgb({},{},{})".format(*row.colour)
                yield Text.assemble(f"{row.label:<{_LABEL}}", (bar, style))
                drawn = True
        if not drawn:
            return
        scale = _scale(count, step, tick="+" if options.ascii_only else "╵")
        yield Text(" " * _LABEL + scale, "dim")


def _scale(count: int, step: int, *, tick: str) -> str:
    seconds = range(0, count * step, tick_every(_TICK_CELLS * step))
    row = ""
    for second, end in pairwise([*seconds, count * step]):
        mark = f"{tick}{position(second, digits=0)}"
        room = -(-end // step) - len(row)
        row += f"{mark if room > len(mark) or not second else '':<{room}}"
    return row.rstrip()
