"""Rich views of reports, prepared files and consent verifications in Jupyter and IPython.

``%load_ext palprep`` registers them; the first name that a running IPython imports from palprep
does so as well. The views are plain HTML without scripts. Whatever comes from a file is escaped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from palprep.consent.facts import ConsentFacts
from palprep.preflight.prepared import Prepared
from palprep.rules.report import Report

VIEW_SIDE = 480
"""Longest side of a portrait in pixels."""


def report_html(report: Report) -> str:
    """A report as an HTML table: the verdict, then every check, what failed first."""
    return _rendered("report", report)


def prepared_html(prepared: Prepared) -> str:
    """A prepared file as HTML: where it is, what was fixed, and its own report."""
    return _rendered("prepared", prepared)


def consent_html(facts: ConsentFacts) -> str:
    """A consent verification as HTML: the verdict and why, the statement to listen to as long as
    its file is there, and every word coloured.
    """
    return _rendered("consent", facts)


VIEWS: Mapping[type, Callable[[Any], str]] = {
    Report: report_html,
    Prepared: prepared_html,
    ConsentFacts: consent_html,
}
"""Which view shows which class."""


def register(ipython: Any) -> None:
    """Make this IPython shell use the views, and plain tables in a terminal."""
    formatters = ipython.display_formatter.formatters
    for shown, view in VIEWS.items():
        formatters["text/html"].for_type(shown, view)
    formatters["text/plain"].for_type(Report, _plain)


def register_if_running() -> None:
    """Register with the IPython shell of this process, if there is one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        register(shell)


def _plain(report: Report, printer: Any, cycle: bool) -> None:  # noqa: ARG001, FBT001 - IPython's
    printer.text(report.table())


def _rendered(macro: str, shown: object) -> str:
    from palprep.views.html import environment  # noqa: PLC0415 - when something is shown

    drawing = {"picture": _picture, "listen": _listen}
    template = environment().get_template("notebook.html.j2", globals=drawing)
    return str(getattr(template.module, macro)(shown))


def _picture(report: Report) -> str | None:
    """The portrait with its findings, or the video's timeline; nothing for audio."""
    # No decoder until one is needed; and then the networks that check() has loaded.
    from palprep.preflight.check_and_prepare import shared_toolkit  # noqa: PLC0415
    from palprep.views.embedded import inline  # noqa: PLC0415
    from palprep.views.pictures import report_picture  # noqa: PLC0415

    models = shared_toolkit().models
    return inline(lambda: report_picture(report, models, side=VIEW_SIDE, form="jpeg"))


def _listen(consent: ConsentFacts, path: str | None) -> str | None:
    """The statement as sound; None where its file is not known, or not there any more."""
    from palprep.views.embedded import inline  # noqa: PLC0415
    from palprep.views.listening import statement_sound  # noqa: PLC0415

    file = path or consent.path
    return None if file is None else inline(lambda: statement_sound(file, consent))
