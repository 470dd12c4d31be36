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

    word_heard: ConsentLimit
    """Probability from which a word passes that the free reading hears, too."""
    word_said: ConsentLimit
    """Probability below which a word was not said where another one was heard and fits better."""
    word_never_said: ConsentLimit
    """Probability below which a word was not said, however improbable the other wording is."""
    word_sure: ConsentLimit
    """Probability from which a word that was heard differently can still pass."""
    shortest_word: ConsentLimit
    """Seconds that each of several words takes at the least. Words that the free reading does not
    have, and that are aligned with less, were not said there."""
    favoured: ConsentLimit
    """Ratio from which the required words pass: the free reading wrote down what fits less."""
    contradicted: ConsentLimit
    """Ratio below which the other wording was said."""
    heard_by_both: ConsentLimit
    """Ratio of the second model alone below which it hears what the first one heard, so that the
    required words do not pass, however well they fit for the first one."""
    same_sound: ConsentLimit
    """Similarity in sound, 0 to 1, from which another wording may be another spelling. Its ratio
    without the audio is taken off: the model likes the usual spelling."""
    misheard_alike: ConsentLimit
    """Similarity in sound, 0 to 1, from which a rare word may have been written down as a commoner
    one."""
    misheard: ConsentLimit
    """Ratio from which such a word passes, once the ratio of both without the audio is taken off:
    the model expects the commoner one anyway."""
    unsupported: ConsentLimit
    """Ratio below which a word that the forced reading does not support was not said."""
    equally_probable: ConsentLimit
    """Ratio from which the free reading does not speak against a required word."""
    beam_noise: ConsentLimit
    """Ratio below which an added word was said. Above it the word may be an accident of the beam
    search, unless all its readings have it."""
    hardly_added: ConsentLimit
    """Ratio from which a single added word is a doubt only, though all readings have it."""
    negated: ConsentLimit
    """Ratio to a wording with the opposite sense (can, cannot) below which that one was said."""
    negated_perhaps: ConsentLimit
    """The same, below which it is a doubt."""
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
    """Probability from which the name may be less favoured than what was heard, or sound unlike
    it."""
    name_supported: ConsentLimit
    """Probability of each word, without a prompt, from which a name that is recognised and
    favoured surely passes, whatever was heard."""
    name_favoured_rather: ConsentLimit
    """Ratio from which a name passes that was heard by its sound and is recognised surely."""
    name_favoured_surely: ConsentLimit
    """Ratio of such a name to every other reading of its place."""
    name_confirmed: ConsentLimit
    """Ratio of the second model alone from which it confirms a name that is recognised surely."""
    name_written_alike: ConsentLimit
    """Similarity in sound, between this and the same, of another name in the transcript."""
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
