"""A consent dossier on a terminal: whether the consent holds, and every entry."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from palprep.dossier.chain import Dossier
from palprep.dossier.files import ExaminedDossier
from palprep.views.dossier_words import Standing, entry_words, standing
from palprep.views.format import stamp
from palprep.views.outcomes import OUTCOMES
from palprep.views.terminal import headed, indented


def dossier_view(examined: ExaminedDossier, now: dt.datetime) -> RenderableType:
    """A dossier: waivers first, then whether the consent holds and why, and every entry."""
    stands = standing(examined, now)
    look = OUTCOMES[stands.outcome]
    return Group(
        headed(stands.word, look.style, str(examined.path)),
        indented(Text("\n".join(_lines(examined.dossier, stands)))),
    )


def _lines(dossier: Dossier, stands: Standing) -> Iterator[str]:
    first = dossier.evidence
    yield from map(entry_words, dossier.waivers)
    yield f"{first.person}, as {first.consent.full_name}" if first.consent else first.person
    yield from (f"- {reason}" for reason in stands.reasons)
    for entry in dossier.entries:
        yield f"{stamp(entry.written_at)}  {entry_words(entry)}"
