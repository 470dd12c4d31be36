"""Rules of two files: whether they show one face, and hold one voice.

Files are compared two by two, so the limits stand in the profile's table ``pairs``, and not under a
role.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from palprep.rules.profile import Limit
from palprep.rules.report import Check
from palprep.rules.rule import Checked, Measured
from palprep.rules.texts import REASONS


@dataclass(frozen=True)
class PairRule(Checked):
    """One rule of two files. ``unknown`` names the reason that stands where one of them has
    nothing to compare.
    """

    unknown: str

    def judge(
        self, first: str, second: str, similarity: float | None, limits: Sequence[Limit]
    ) -> Check:
        """The check of the files with these names.

        ``similarity`` is the cosine similarity of their embeddings, -1 to 1, None where one of
        them has none. There is one limit at the least.
        """
        label = f"{self.texts.label} in {first} and {second}"
        if similarity is None:
            return self.check(REASONS[self.unknown], limits, label=label)
        measured = Measured(value=similarity, words={"first": first, "second": second})
        found = self.check(measured, limits, label=label)
        return found.model_copy(update={"measured": round(similarity, 3)})


SAME_PERSON = PairRule("same_person", "no_face_to_compare")
"""Of the SFace embeddings of faces."""

SAME_VOICE = PairRule("same_voice", "no_voice_to_compare")
"""Of the CAM++ embeddings of voices."""
