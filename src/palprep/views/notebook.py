"""Rich views in Jupyter and IPython: reports, prepared files, consent, runs, rankings, profiles.

``%load_ext palprep`` registers them; the first name that a running IPython imports from palprep
does so as well. The views are plain HTML without scripts. Whatever comes from a file is escaped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from palprep.consent.facts import ConsentFacts
    from palprep.journal.run_view import PersonView, RunView
    from palprep.preflight.prepared import Prepared
    from palprep.preflight.rank import Ranking
    from palprep.rules.profile import Profile
    from palprep.rules.report import Check, Report

VIEW_SIDE = 480
"""Longest side of a portrait in pixels."""


def report_html(report: Report) -> str:
    """A report as HTML: the verdict, what was seen or heard, then what failed or warned, and the
    other checks folded.
    """
    return _rendered("report", report)


def check_html(check: Check) -> str:
    """One check as a line of HTML."""
    return _rendered("one_check", check)


def prepared_html(prepared: Prepared) -> str:
    """A prepared file as HTML: what was fixed, before and after next to each other, and its own
    report.
    """
    return _rendered("prepared", prepared)


def consent_html(facts: ConsentFacts) -> str:
    """A consent verification as HTML: the verdict and why, the statement to listen to as long as
    its file is there, and every word coloured.
    """
    return _rendered("consent", facts)


def ranking_html(ranking: Ranking) -> str:
    """A ranking as a contact sheet: the best portraits, with what speaks against each."""
    return _rendered("ranking", ranking)


def run_html(run: RunView) -> str:
    """A run as a table of its people, the worst first."""
    return _rendered("run", run)


def person_html(person: PersonView) -> str:
    """One person of a run: state, reasons, ids, and the reports on the files folded."""
    return _rendered("person", person)


def profile_html(profile: Profile) -> str:
    """A profile as its limits for each role, folded."""
    return _rendered("profile", profile)


VIEWS: Mapping[str, Callable[[Any], str]] = {
    "palprep.rules.report.Report": report_html,
    "palprep.rules.report.Check": check_html,
    "palprep.preflight.prepared.Prepared": prepared_html,
    "palprep.consent.facts.ConsentFacts": consent_html,
    "palprep.preflight.rank.Ranking": ranking_html,
    "palprep.journal.run_view.RunView": run_html,
    "palprep.journal.run_view.PersonView": person_html,
    "palprep.rules.profile.Profile": profile_html,
}
"""Which view shows which class. By name: registering loads none of them."""


def register(ipython: Any) -> None:
    """Make this IPython shell use the views, and plain tables in a terminal."""
    formatters = ipython.display_formatter.formatters
    for shown, view in VIEWS.items():
        formatters["text/html"].for_type(shown, view)
    for worded in ("palprep.rules.report.Report", "palprep.preflight.prepared.Prepared"):
        formatters["text/plain"].for_type(worded, _plain)


def register_if_running() -> None:
    """Register with the IPython shell of this process, if there is one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        register(shell)


def _plain(shown: object, printer: Any, cycle: bool) -> None:  # noqa: ARG001, FBT001 - IPython's
    printer.text(str(shown))


def _rendered(macro: str, shown: object) -> str:
    from palprep.views.html import environment  # noqa: PLC0415 - when something is shown

    drawing = {
        "picture": _picture,
        "sound": _sound,
        "before_and_after": _before_and_after,
        "listen": _listen,
        "shots": _shots,
        "limits": _limits,
        "worst_first": _worst_first,
    }
    template = environment().get_template("notebook.html.j2", globals=drawing)
    return str(getattr(template.module, macro)(shown))


def _picture(report: Report) -> str | None:
    """The portrait with its findings, the video's timeline, or the recording's waveform."""
    # No decoder until one is needed; and then the networks that check() has loaded.
    from palprep.preflight.check_and_prepare import shared_toolkit  # noqa: PLC0415
    from palprep.views.embedded import inline  # noqa: PLC0415
    from palprep.views.pictures import report_picture, report_waveform  # noqa: PLC0415

    models = shared_toolkit().models
    return inline(
        lambda: (
            report_waveform(report) or report_picture(report, models, side=VIEW_SIDE, form="jpeg")
        )
    )


def _sound(report: Report) -> str | None:
    """How a recording begins; None for a file without a recording, or not there any more."""
    from palprep.views.embedded import inline  # noqa: PLC0415
    from palprep.views.listening import beginning  # noqa: PLC0415

    recording = report.facts.recording if report.facts else None
    return None if recording is None else inline(lambda: beginning(report.path))


def _before_and_after(prepared: Prepared) -> Mapping[str, str | None]:
    """Pictures of the source and of the output, None where the two do not differ to the eye."""
    from palprep.preflight.asset import Asset  # noqa: PLC0415
    from palprep.views.asset_pictures import pictures_of  # noqa: PLC0415
    from palprep.views.picture_folder import drawn_now  # noqa: PLC0415

    role = prepared.report.role
    if role is None:
        return {"before": None, "after": None}
    asset = Asset(
        role=role,
        source=prepared.source,
        source_sha256=prepared.source_sha256,
        prepared=prepared,
        seconds=0.0,
    )
    seen = pictures_of(asset)
    wanted = {"before": seen.before or seen.chosen, "after": seen.after}
    return {name: each and drawn_now(each) for name, each in wanted.items()}


def _listen(consent: ConsentFacts, path: str | Path | None) -> str | None:
    """The statement as sound; None where its file is not known, or not there any more."""
    from palprep.views.embedded import inline  # noqa: PLC0415
    from palprep.views.listening import statement_sound  # noqa: PLC0415

    file = path or consent.path
    return None if file is None else inline(lambda: statement_sound(file, consent))


def _shots(ranking: Ranking) -> object:
    from palprep.views.contact_sheet import shots  # noqa: PLC0415

    return shots(ranking)


def _limits(profile: Profile) -> object:
    from palprep.views.limits import limits_by_role  # noqa: PLC0415

    return limits_by_role(profile)


def _worst_first(run: RunView) -> object:
    from palprep.views.page import worst_first  # noqa: PLC0415

    return worst_first(run.people)
