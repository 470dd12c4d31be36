"""Rich views in Jupyter and IPython: reports, prepared files, consent, runs, what was made,
rankings, profiles.

``%load_ext palprep`` registers them; the first name that a running IPython imports from palprep
does so as well. The views are plain HTML without scripts. Whatever comes from a file is escaped.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from palprep import consent, preflight, rules
from palprep.values import Role
from palprep.views.drawings import pictures

VIEW_SIDE = 480
"""Longest side of a portrait in pixels."""


MACROS: Mapping[str, str] = {
    "palprep.rules.report.Report": "report",
    "palprep.rules.report.Check": "one_check",
    "palprep.preflight.values.Prepared": "prepared",
    "palprep.consent.facts.ConsentFacts": "consent",
    "palprep.preflight.values.Ranking": "ranking",
    "palprep.journal.runs.views.RunView": "run",
    "palprep.journal.runs.views.PersonView": "person",
    "palprep.journal.creations.states.Creation": "creation",
    "palprep.journal.entries.bodies.FaceVerdict": "face",
    "palprep.rules.profile.Profile": "profile",
}
"""The macro of ``notebook.html.j2`` for each class. They are named, so that none is loaded."""

_PLAIN = ("palprep.rules.report.Report", "palprep.preflight.values.Prepared")
"""Classes that IPython shows as ``str()`` in a terminal, which is a table."""


def html_of(shown: object) -> str:
    """A value of a class in :data:`MACROS` as HTML. Failures and warnings come first; the other
    checks are folded. Consent can be listened to while its file is there."""
    # Imported here because they load Jinja2.
    from palprep.views.html import environment  # noqa: PLC0415
    from palprep.views.page import worst_first  # noqa: PLC0415

    drawing = {
        "picture": _picture,
        "audio": _audio,
        "before_and_after": _before_and_after,
        "listen": _listen,
        "shots": pictures.shots,
        "rules": rules.RULES,
        "roles": Role,
        "worst_first": worst_first,
    }
    template = environment().get_template("notebook.html.j2", globals=drawing)
    classes = (f"{each.__module__}.{each.__qualname__}" for each in type(shown).__mro__)
    macro = next(MACROS[name] for name in classes if name in MACROS)
    return str(getattr(template.module, macro)(shown))


def register(shell: Any = None) -> None:
    """Make an IPython ``shell``, by default that of this process, use these views."""
    if shell is None:
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return
    formatters = shell.display_formatter.formatters
    for shown in MACROS:
        formatters["text/html"].for_type(shown, html_of)
    for shown in _PLAIN:
        formatters["text/plain"].for_type(shown, lambda value, out, _: out.text(str(value)))


def _picture(report: rules.Report) -> str | None:
    """The portrait with its findings, the video's timeline, or the recording's waveform."""
    facts = report.facts
    if facts is not None and facts.recording is not None:
        return pictures.waveform(facts.voice).data_uri if facts.voice else None
    return pictures.inline(lambda: pictures.report_picture(report, side=VIEW_SIDE))


def _audio(report: rules.Report) -> str | None:
    recording = report.facts.recording if report.facts else None
    return None if recording is None else pictures.inline(lambda: pictures.beginning(report.path))


def _before_and_after(prepared: preflight.Prepared) -> Mapping[str, str | None]:
    """Pictures of the source and of the output; no source if it looks the same."""
    role = prepared.report.role
    if role is None:
        return {"before": None, "after": None}
    asset = preflight.Asset(
        role=role,
        source=prepared.source,
        source_sha256=prepared.source_sha256,
        prepared=prepared,
        seconds=0.0,
    )
    seen = pictures.pictures_of(asset)
    wanted = {"before": seen.before or seen.chosen, "after": seen.after}
    return {name: each and pictures.inline(each.draw) for name, each in wanted.items()}


def _listen(facts: consent.ConsentFacts, path: str | Path | None) -> str | None:
    """The statement as audio; None if its file is not known, or gone."""
    file = path or facts.path
    return None if file is None else pictures.inline(lambda: pictures.statement_audio(file, facts))
