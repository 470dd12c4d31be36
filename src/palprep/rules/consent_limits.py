"""The numbers by which a statement of consent is graded, word by word: data of a profile.

Two readings are compared. The free reading writes down what it hears. The forced reading aligns
the required statement with the audio and says how probable each of its words is. Where the two
differ, the log likelihood ratio says which wording fits the audio better: the natural logarithm
of P(required wording) / P(other wording).
"""

from __future__ import annotations

import datetime as dt

from pydantic import ConfigDict

from palprep.values import Value


class ConsentLimit(Value):
    """One number, and where it comes from."""

    value: float
    source: str
    date: dt.date
    note: str | None = None
    """Another source's differing value, or why this one was taken."""


class ConsentLimits(Value):
    """The limits of a statement. Probabilities are 0 to 1, ratios natural logarithms."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    word_said: ConsentLimit
    """Probability below which a required word was not said, by the forced reading."""
    word_never_said: ConsentLimit
    """Probability below which a word was not said, however improbable the other wording is."""
    word_sure: ConsentLimit
    """Probability from which a word that was heard differently can still pass."""
    contradicted: ConsentLimit
    """Ratio below which the other wording was said."""
    unsupported: ConsentLimit
    """Ratio below which a word that the forced reading does not support was not said."""
    equally_probable: ConsentLimit
    """Ratio from which the free reading does not speak against a required word."""
    beam_noise: ConsentLimit
    """Ratio below which an added word was said. Above it the word may be an accident of the beam
    search, unless all its readings have it."""
    negated: ConsentLimit
    """Ratio to a wording with the opposite sense (can, cannot) below which that one was said."""
    withdrawn: ConsentLimit
    """Ratio of a remark next to the statement, as heard, to the same remark with a word that
    withdraws consent, below which the consent was withdrawn."""
    name_alike: ConsentLimit
    """Similarity in sound, 0 to 1, from which another wording may be the name."""
    name_alike_surely: ConsentLimit
    """Similarity in sound from which a name that was heard otherwise can still pass."""
    name_recognised: ConsentLimit
    """Probability that each word of a spoken name reaches once the model is prompted with its
    spelling."""
    name_recognised_alike: ConsentLimit
    """The same where what was heard sounds much like the name and is not the better one."""
    name_recognised_surely: ConsentLimit
    """Probability from which the name may be less favoured than what was heard."""
    name_favoured: ConsentLimit
    """Ratio of the name to every other reading of its place, the model prompted with both
    spellings, from which the name was said."""
    name_disfavoured: ConsentLimit
    """Ratio below which what was heard is the name that was said."""
    name_disfavoured_surely: ConsentLimit
    """The same for a name that is recognised surely: its sounds have many spellings."""

    @classmethod
    def texts(cls) -> dict[str, str]:
        """What each limit means, by its name."""
        return {
            name: " ".join((field.description or "").split())
            for name, field in cls.model_fields.items()
        }
