"""Rich views in Jupyter and IPython: reports, prepared files, consent, runs, rankings, profiles.

``%load_ext palprep`` registers them; the first name that a running IPython imports from palprep
does so as well. The views are plain HTML without scripts. Whatever comes from a file is escaped.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from palprep.consent import ConsentFacts
    from palprep.journal import PersonView, RunView
    from palprep.preflight import Prepared, Ranking
    from palprep.rules import Limit, Profile, Report
    from palprep.values import Role
    from palprep.views.pictures import Shot

VIEW_SIDE = 480
"""Longest side of a portrait in pixels."""


MACROS: Mapping[str, str] = {
    "palprep.rules.report.Report": "report",
    "palprep.rules.report.Check": "one_check",
    "palprep.preflight.values.Prepared": "prepared",
    "palprep.consent.facts.ConsentFacts": "consent",
    "palprep.preflight.values.Ranking": "ranking",
    "palprep.journal.run_view.RunView": "run",
    "palprep.journal.run_view.PersonView": "person",
    "palprep.rules.profile.Profile": "profile",
}
"""The macro of ``notebook.html.j2`` that shows each class. By name: registering loads none."""

_PLAIN = ("palprep.rules.report.Report", "palprep.preflight.values.Prepared")
"""What a terminal shows as a table."""


class LimitRow(NamedTuple):
    """One limit of one check."""

    check: str
    label: str
    words: str
    limit: Limit


def html_of(shown: object) -> str:
    """A value of :data:`MACROS` as HTML.

    A report begins with its verdict and what was seen or heard, then what failed or warned; the
    other checks are folded. A prepared file shows what was fixed, before and after. Consent can be
    listened to as long as its file is there, and every word is coloured. A ranking is a contact
    sheet, a run a table of its people, the worst first.
    """
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
    classes = (f"{each.__module__}.{each.__qualname__}" for each in type(shown).__mro__)
    macro = next(MACROS[name] for name in classes if name in MACROS)
    return str(getattr(template.module, macro)(shown))


def register(shell: Any = None) -> None:
    """Make an IPython shell use the views, and plain tables in a terminal.

    Without a ``shell`` it is that of this process, if there is one.
    """
    if shell is None:
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return
    formatters = shell.display_formatter.formatters
    for shown in MACROS:
        formatters["text/html"].for_type(shown, html_of)
    for shown in _PLAIN:
        formatters["text/plain"].for_type(shown, _plain)


def _plain(shown: object, printer: Any, cycle: bool) -> None:  # noqa: ARG001, FBT001 - IPython's
    printer.text(str(shown))


def _picture(report: Report) -> str | None:
    """The portrait with its findings, the video's timeline, or the recording's waveform."""
    # No decoder until one is needed; and then the networks that check() has loaded.
    from palprep.preflight import shared_toolkit  # noqa: PLC0415
    from palprep.views.asset_pictures import inline  # noqa: PLC0415
    from palprep.views.pictures import report_picture  # noqa: PLC0415
    from palprep.views.waveform import waveform  # noqa: PLC0415

    if report.facts is not None and report.facts.recording is not None:
        return inline(lambda: waveform(report.path))
    models = shared_toolkit().models
    return inline(lambda: report_picture(report, models, side=VIEW_SIDE, form="jpeg"))


def _sound(report: Report) -> str | None:
    """How a recording begins; None for a file without a recording, or not there any more."""
    from palprep.views.asset_pictures import inline  # noqa: PLC0415
    from palprep.views.pictures import beginning  # noqa: PLC0415

    recording = report.facts.recording if report.facts else None
    return None if recording is None else inline(lambda: beginning(report.path))


def _before_and_after(prepared: Prepared) -> Mapping[str, str | None]:
    """Pictures of the source and of the output, None where the two do not differ to the eye."""
    from palprep.preflight import Asset  # noqa: PLC0415
    from palprep.views.asset_pictures import drawn_now, pictures_of  # noqa: PLC0415

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
    from palprep.views.asset_pictures import inline  # noqa: PLC0415
    from palprep.views.pictures import statement_sound  # noqa: PLC0415

    file = path or consent.path
    return None if file is None else inline(lambda: statement_sound(file, consent))


def _shots(ranking: Ranking) -> tuple[Shot, ...]:
    from palprep.views.pictures import shots  # noqa: PLC0415

    return shots(ranking)


def _limits(profile: Profile) -> tuple[tuple[Role, tuple[LimitRow, ...]], ...]:
    """Every role that the profile knows, with its limits in the order of reports."""
    from palprep.rules import RULES  # noqa: PLC0415
    from palprep.values import Role  # noqa: PLC0415

    return tuple(
        (
            role,
            tuple(
                LimitRow(check, texts.label, limit.words(texts.unit), limit)
                for check, limits in profile.for_role(role).items()
                for texts in (RULES[check].texts,)
                for limit in limits
            ),
        )
        for role in Role
        if profile.for_role(role)
    )


def _worst_first(run: RunView) -> list[PersonView]:
    from palprep.views.page import worst_first  # noqa: PLC0415

    return worst_first(run.people)
