"""Wordings that are weighed against the required one: what was heard instead, and small changes
to the opposite sense, which a language model likes to overhear."""

from __future__ import annotations

import re
from collections.abc import Sequence

from palprep.consent.compare import Difference
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


def replaced(
    text: str, words: Sequence[Word], difference: Difference, heard: Sequence[Word]
) -> str:
    """The statement with what was heard in the place of what was required."""
    said = heard[difference.heard_first : difference.heard_last]
    instead = " ".join(word.shown for word in said).rstrip(".,;:!?")
    if difference.first == difference.last:
        at = words[difference.first].begin if difference.first < len(words) else len(text)
        return f"{text[:at].rstrip()} {instead} {text[at:]}".strip()
    begin, end = words[difference.first].begin, words[difference.last - 1].end
    stop = re.search(r"[.,;:!?]*$", text[begin:end])
    joined = f"{text[:begin]}{instead}{stop[0] if stop else ''}{text[end:]}"
    return re.sub(r"\s+(?=[.,;:!?])", "", " ".join(joined.split()))


def negated(text: str) -> tuple[tuple[str, str, int], ...]:
    """The statement with one small word changed so that it says something else, in English.

    Per variant: the words that then stand there, the whole text, and the character of the
    original text at which it differs.
    """
    found = []
    for pattern, changes in _NEGATIONS:
        for match in re.finditer(pattern, text):
            for change in changes:
                said = match.expand(change)
                whole = text[: match.start()] + said + text[match.end() :]
                found.append((said, whole, match.start()))
    return tuple(found)
