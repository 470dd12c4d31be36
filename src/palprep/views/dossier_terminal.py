"""A consent dossier on a terminal: whether the consent holds, every entry, and every flaw."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from palprep.dossier.files import ExaminedDossier
from palprep.views.dossier_words import entry_words, flaw_words, standing
from palprep.views.format import stamp
from palprep.views.outcomes import OUTCOMES
from palprep.views.terminal import headed, indented


def dossier_view(examined: ExaminedDossier, now: dt.datetime) -> RenderableType:
    """A dossier: waivers first, then whether the consent holds, every entry, and every flaw."""
    stands = standing(examined, now)
    look = OUTCOMES[stands.outcome]
    return Group(
        headed(stands.word, look.style, str(examined.path)),
        indented(Text("\n".join(_lines(examined)))),
    )


def _lines(examined: ExaminedDossier) -> Iterator[str]:
    dossier = examined.dossier
    first = dossier.evidence
    for entry in dossier.waivers:
        yield f"consent was waived: {entry.note}"
    yield f"{first.person}, as {first.consent.full_name}" if first.consent else first.person
    for entry in dossier.entries:
        yield f"{stamp(entry.written_at)}  {entry_words(entry)}"
    for flaw in examined.flaws:
        yield f"flaw: {flaw_words(flaw)}"
