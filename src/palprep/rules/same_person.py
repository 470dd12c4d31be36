"""Whether several assets of one person show the same face."""

from __future__ import annotations

import datetime as dt
from typing import Final

from palprep.rules.profile import Limit
from palprep.rules.report import Check
from palprep.values import Outcome

ID: Final = "same_person"

LIMITS: Final = (
    Limit(
        min=0.363,
        level=Outcome.FAIL,
        source="SFace: published threshold of cosine similarity (OpenCV Zoo)",
        date=dt.date(2026, 11, 21),
    ),
    Limit(
        min=0.5,
        level=Outcome.WARN,
        source="palprep: pairs of one person were seen at 0.59 and above, of two at 0.36 and below",
        date=dt.date(2026, 11, 21),
    ),
)


def judge_likeness(first: str, second: str, similarity: float | None) -> Check:
    """The check for two files; ``similarity`` is the cosine of their faces' embeddings, None
    where one of them shows no face.
    """
    label = f"Same person in {first} and {second}"
    if similarity is None:
        return Check(
            id=ID,
            label=label,
            outcome=Outcome.UNKNOWN,
            limit=LIMITS[0].words(""),
            source=LIMITS[0].source,
            advice="One of the two shows no face that could be compared.",
        )
    broken = [limit for limit in LIMITS if not limit.holds(similarity)]
    decisive = broken[0] if broken else LIMITS[0]
    return Check(
        id=ID,
        label=label,
        outcome=decisive.level if broken else Outcome.PASS,
        measured=round(similarity, 3),
        limit=decisive.words("cosine similarity"),
        source=decisive.source,
        advice="Portrait, training video and consent video must show one person: compare them."
        if broken
        else None,
    )
