"""The rule of two files: do they show one person?"""

from __future__ import annotations

from collections.abc import Sequence

from palprep.rules.profile import Limit
from palprep.rules.report import Check
from palprep.rules.rule import Described, Measured, Unmeasured
from palprep.rules.sentences import ByLevel, Sentences

NO_FACE_TO_COMPARE = Unmeasured(
    reason="One of the two files shows no face that could be compared.",
    advice="Use files in which the face is uncovered and towards the camera.",
)


class SamePerson(Described):
    """Portrait, training video and consent video show one person: cosine similarity of the SFace
    embeddings of their faces. Files are compared two by two, so the limits stand in the profile's
    table ``pairs``, and not under a role."""

    id = "same_person"
    label = "Same person"
    unit = "cosine similarity"
    predicts = "consent"
    sentences = Sentences(
        "{first} and {second} show the same person.",
        below=ByLevel(
            fail="{first} and {second} show different people.",
            warn="{first} and {second} may show different people.",
        ),
    )
    advice = "Portrait, training video and consent video must show one person: compare them."

    def judge(
        self, first: str, second: str, similarity: float | None, limits: Sequence[Limit]
    ) -> Check:
        """The check of the files with these names.

        ``similarity`` is -1 to 1, None where one of them shows no face. There is one limit at
        the least.
        """
        label = f"Same person in {first} and {second}"
        if similarity is None:
            return self.check(NO_FACE_TO_COMPARE, limits, label=label)
        measured = Measured(value=similarity, words={"first": first, "second": second})
        found = self.check(measured, limits, label=label)
        return found.model_copy(update={"measured": round(similarity, 3)})
