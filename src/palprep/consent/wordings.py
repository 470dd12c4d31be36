"""Wordings that turn the sense: small changes of the statement, which a language model likes to
overhear, and words next to it that take consent back. English.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from palprep.consent.words import Word, keys_of

_NEGATIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    # Small changes to the opposite sense, which a language model likes to correct.
    (r"(?<!not )\b(can)\b(?! not)", ("cannot", "can't", "could")),
    (r"\b(am|is|are|was|were|has|have|shall|must|should|would|could)\b(?! not)", (r"\1 not",)),
    (r"\b(will)\b(?! not)", ("will not", "won't", "would")),
    (r"\b(may)\b(?! not)", ("may not", "might")),
    (r"\b(do|does|did)\b(?! not)", (r"\1 not",)),
    (
        (
            r"(?<!my )(?<!the )(?<!to )(?<!not )\b(agree|consent|authori[sz]e|allow|permit|grant"
            r"|understand|accept|confirm|approve|acknowledge|want|provide)\b"
        ),
        (r"do not \1", r"don't \1"),
    ),
    (r"(?<!to )(?<!not )\b(give)\b", ("do not give", "don't give", "gave")),
    (r"\b(provide)\b", ("provided",)),
    (r"\b(like|able|willing|limited|authori[sz]ed)\b", (r"un\1",)),
    (r"\b(my)\b", ("no",)),
    (r"\b(me)\b", ("him",)),
    (r"\b(with)\b", ("without",)),
    (r"\b(by using)\b", ("without using",)),
    (r"\b(and)\b", ("or",)),
    (r"\b(all)\b", ("no",)),
    (r"\b(any)\b", ("no",)),
)

CLOSE = 8
"""How many words before and after the statement a mere negation counts for."""
_SENTENCE = 14
"""How many words next to the statement can belong to a remark about it."""

_NEGATING = frozenset(
    (
        *("not", "never", "no", "none", "nothing", "without", "nor", "neither"),
        *("withdraw", "withdraws", "withdrawing", "withdrawal", "withdrew", "withdrawn"),
        *("revoke", "revokes", "revoking", "revoked", "revocation", "rescind", "retract"),
        *("refuse", "refuses", "decline", "deny", "denies", "object", "disagree"),
    )
)
_TAKES_BACK = re.compile(
    r"\b(withdraw\w*|withdrew|revok\w*|revocation|rescind\w*|retract\w*|disagree\w*)\b"
    r"|\b(do|does|did|will|can|have|has|shall|would|could) not (\w+ )?"
    r"(agree\w*|consent\w*|give|gave|given|allow\w*|permit\w*|authoriz\w*"
    r"|mean (it|that|this))\b"
    r"|\bnever (\w+ )?(agree\w*|consent\w*|gave|give|given|authoriz\w*)\b"
    r"|\btake (\w+ )?(that|it|this|everything|all|all of it|all of that) back\b"
    r"|\btake back (what|that|this|it|everything|all|my)\b"
    r"|\b(just )?(kidding|joking)\b|\bagainst my will\b|\bunder (duress|protest|pressure)\b"
    r"|\bno longer (\w+ )?(valid|agree|consent|applies)\b|\b(null and|is) void\b"
    r"|\bi (\w+ )?(refuse|decline|object)\b"
)
"""Before or after a statement, however far off, these words are about it."""
_REMARK = re.compile(
    r"\b(chang\w*) my mind\b|\bcancel\w*\b|\bno longer\b"
    r"|\b(invalid|untrue|false|a lie|lying|lied)\b"
    r"|\b(forget|ignore|disregard|scratch|strike|scrap|erase|delete|undo) "
    r"(\w+ )?(that|it|this|everything|all|what|my)\b"
    r"|\b(none|nothing|not) (\w+ ){0,4}(true|mean|meant|serious|valid|want|wanted|real)\b"
    # In noise the first sound of "none" is lost.
    r"|\b(n?one|nothing) of (that|this|it)\b"
    r"|\b(forced|coerced|ordered|paid|made|told) (me )?to (say|read|do|give)\b"
    r"|\bmade me (say|read|do)\b|\ba joke\b|\bpretend\w*\b|\bonly if\b|\bunless\b"
)
"""Right before or after a statement these words are about it; in other talk they are not."""
_WITHDRAWING = ("withdraw", "revoke", "retract", "cancel", "refuse", "take back")
_MISHEARD = 3
"""One word can be written down as so many."""
_SPOKEN_OF = re.compile(r"\b(consent|permission|agree|agreement)\b")


def replaced(text: str, words: Sequence[Word], first: int, last: int, heard: str) -> str:
    """A text with what was heard in the place of its words ``first`` up to ``last``; added before
    word ``first`` where there are none.
    """
    instead = heard.rstrip(".,;:!?")
    if first == last:
        at = words[first].begin if first < len(words) else len(text)
        return f"{text[:at].rstrip()} {instead} {text[at:]}".strip()
    begin, end = words[first].begin, words[last - 1].end
    stop = re.search(r"[.,;:!?]*$", text[begin:end])
    joined = f"{text[:begin]}{instead}{stop[0] if stop else ''}{text[end:]}"
    return re.sub(r"\s+(?=[.,;:!?])", "", " ".join(joined.split()))


def negated(text: str, words: Sequence[Word]) -> dict[tuple[int, str], str]:
    """The statement with one small word changed so that it says something else, in English, by the
    index of that word and what then stands there.
    """
    found = {}
    for pattern, changes in _NEGATIONS:
        for match in re.finditer(pattern, text):
            for change in changes:
                word = sum(each.end <= match.start() for each in words)
                said = match.expand(change)
                found[word, said] = text[: match.start()] + said + text[match.end() :]
    return found


def negates(word: Word, wanted: Collection[str]) -> bool:
    """Whether a heard word negates, and is not one that the statement has."""
    return any(key in _NEGATING and key not in wanted for key in word.keys)


def takes_back(before: Sequence[Word], after: Sequence[Sequence[Word]]) -> bool:
    """Whether what is heard before a statement, or any reading of what is heard after it,
    withdraws it or puts it in doubt.
    """
    everything = [keys_of(before), *map(keys_of, after)]
    near = [keys_of(before[-_SENTENCE:]), *(keys_of(words[:_SENTENCE]) for words in after)]
    return any(_TAKES_BACK.search(text) for text in everything) or any(
        _REMARK.search(text) for text in near
    )


def speaks_of_consent(words: Sequence[Word]) -> bool:
    """Whether consent is a subject of what is heard."""
    return _SPOKEN_OF.search(keys_of(words)) is not None


def is_remark(words: Sequence[Word]) -> bool:
    """Whether somebody says so little of themselves that it may be about the statement before
    it, whatever words it is made of.
    """
    own = any("i" in word.keys for word in words[:2])
    return own and len(words) <= _SENTENCE


def withdrawals(words: Sequence[Word]) -> tuple[str, ...]:
    """A remark with a word that withdraws consent in the place of its first words after "I":
    "I heard hope all of it" may have been "I revoke all of it". Empty where it is no remark.
    """
    if not is_remark(words):
        return ()
    said = [word.shown for word in words]
    own = next(index for index, word in enumerate(words) if "i" in word.keys) + 1
    most = min(_MISHEARD, len(said) - own)
    return tuple(
        " ".join((*said[:own], verb, *said[own + count :]))
        for verb in _WITHDRAWING
        for count in range(1, most + 1)
    )
