"""Wordings that turn the sense: small changes of the statement, which a language model likes to
overhear. English.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from palprep.consent.words import Word

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

_NEGATING = frozenset(
    (
        *("not", "never", "no", "none", "nothing", "without", "nor", "neither"),
        *("withdraw", "withdraws", "withdrawing", "withdrawal", "withdrew", "withdrawn"),
        *("revoke", "revokes", "revoking", "revoked", "revocation", "rescind", "retract"),
        *("refuse", "refuses", "decline", "deny", "denies", "object", "disagree"),
    )
)


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
