"""Rich views of reports, prepared files and consent verifications in Jupyter and IPython.

``from palprep import ...`` in a running IPython registers them; ``%load_ext palprep``
does so by hand. The views are plain HTML without scripts; whatever comes from a file is escaped.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from palprep.errors import PalprepError
from palprep.rules.measures import measure_words
from palprep.values import Outcome

if TYPE_CHECKING:
    from palprep.consent.facts import ConsentFacts
    from palprep.preflight.check_and_prepare import Prepared
    from palprep.rules.report import Check, Report

_COLOURS = {
    Outcome.PASS: "#1a7f37",
    Outcome.WARN: "#9a6700",
    Outcome.FAIL: "#cf222e",
    Outcome.UNKNOWN: "#6e7781",
}
_VIEW_SIDE = 480
_CELL = 'style="text-align:left;vertical-align:top;padding:2px 12px 2px 0"'


def report_html(report: Report) -> str:
    """A report as an HTML table: the verdict, then every check, what failed first."""
    role = report.role.value if report.role else "unreadable"
    title = (
        f"<p>{_badge(report.verdict)} <b>{escape(str(report.path))}</b> "
        f"<small>{escape(role)}, {escape(report.profile)}</small></p>"
    )
    if report.error is not None:
        return f"<div>{title}<p>{escape(report.error.message)}</p></div>"
    order = [Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN, Outcome.PASS]
    rows = sorted(report.checks, key=lambda check: order.index(check.outcome))
    return f"<div>{title}{_picture(report)}{_table(_COLUMNS, map(_row, rows))}</div>"


def _picture(report: Report) -> str:
    """The portrait with its findings, or the video's time line; nothing for sound."""
    from palprep.views.portrait import portrait_overlay  # noqa: PLC0415 - no decoder until one is needed
    from palprep.views.timeline_image import timeline_png  # noqa: PLC0415 - likewise
    from palprep.vision.models import Models  # noqa: PLC0415 - likewise

    try:
        strip = timeline_png(report)
        drawn = strip or portrait_overlay(report, Models(), side=_VIEW_SIDE, form="jpg")
    except (PalprepError, OSError):
        return ""
    if drawn is None:
        return ""
    kind = "png" if strip else "jpeg"
    data = base64.b64encode(drawn).decode("ascii")
    return f'<p><img style="max-width:100%" alt="" src="data:image/{kind};base64,{data}"></p>'


def prepared_html(prepared: Prepared) -> str:
    """A prepared file as HTML: where it is, what was repaired, and its own report."""
    did = "".join(
        f"<li><code>{escape(fix.id)}</code> {escape(fix.did)}</li>" for fix in prepared.fixes
    )
    repairs = f"<ul>{did}</ul>" if did else "<p>Nothing to repair.</p>"
    return (
        f"<div><p><b>{escape(prepared.source)}</b> &rarr; <b>{escape(prepared.path)}</b><br>"
        f"<small>sha256 <code>{escape(prepared.sha256)}</code></small></p>"
        f"{repairs}{report_html(prepared.report)}"
        f"{prepared_html(prepared.consent) if prepared.consent else ''}</div>"
    )


def consent_html(facts: ConsentFacts) -> str:
    """A consent verification as HTML: the statement with every word coloured, and why."""
    words = " ".join(
        f'<span style="color:{_COLOURS[Outcome(word.outcome)]}" title="{_when(word)}">'
        f"{escape(word.expected or f'+{word.heard}')}</span>"
        for word in facts.words
    )
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in facts.reasons)
    return (
        f"<div><p>{_badge(Outcome(facts.outcome))} <b>{escape(facts.full_name)}</b></p>"
        f"<p>{words}</p><ul>{reasons}</ul>"
        f"<p><small>Heard: {escape(facts.transcript)}</small></p></div>"
    )


VIEWS = {
    ("palprep.rules.report", "Report"): report_html,
    ("palprep.preflight.check_and_prepare", "Prepared"): prepared_html,
    ("palprep.speech.facts", "ConsentFacts"): consent_html,
}
"""Which view shows which class. By name, so that registering them loads no decoder."""


def register(ipython: Any) -> None:
    """Make this IPython shell use the views, and plain tables in a terminal."""
    formatters = ipython.display_formatter.formatters
    for (module, name), view in VIEWS.items():
        formatters["text/html"].for_type_by_name(module, name, view)
    formatters["text/plain"].for_type_by_name("palprep.rules.report", "Report", _plain)


def register_if_running() -> None:
    """Register with the IPython shell of this process, if there is one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        register(shell)


def _plain(report: Report, printer: Any, cycle: bool) -> None:  # noqa: ARG001, FBT001 - IPython's
    printer.text(report.table())


_COLUMNS = ("", "Check", "Measured", "Wanted", "What to do", "Source")


def _row(check: Check) -> tuple[str, ...]:
    return (
        _badge(check.outcome),
        f'<span title="{escape(check.id)}">{escape(check.label)}</span>',
        escape(measure_words(check.measured)),
        escape(check.limit or ""),
        escape(check.advice or ""),
        f"<small>{escape(check.source or '')}</small>",
    )


def _table(columns: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    head = "".join(f"<th {_CELL}>{column}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td {_CELL}>{cell}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _badge(outcome: Outcome) -> str:
    return f'<b style="color:{_COLOURS[outcome]}">{outcome.value}</b>'


def _when(word: Any) -> str:
    heard = "not heard" if word.heard is None else f"heard: {word.heard}"
    return escape(heard if word.start is None else f"{heard}, at {word.start:.2f} s")
