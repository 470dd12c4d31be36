"""Wordings that the sound is weighed against: what was heard instead, and the opposite."""

from __future__ import annotations

import re
from collections.abc import Sequence

from palprep.speech.compare import Difference
from palprep.speech.words import Word

_AUXILIARIES = {
    "can": "cannot", "am": "am not", "is": "is not", "are": "are not", "will": "will not",
    "may": "may not", "do": "do not", "have": "have not", "shall": "shall not",
}  # fmt: skip
_VERBS = (
    *("give", "grant", "agree", "consent", "authorise", "authorize", "allow", "permit"),
    *("understand", "accept", "confirm", "approve", "acknowledge", "want"),
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


def negations(text: str) -> tuple[tuple[str, str], ...]:
    """Ways to say the opposite of a statement in English: what stands there, and the text."""
    found = []
    for match in re.finditer(rf"\b({'|'.join(_AUXILIARIES)})\b", text):
        negated = _AUXILIARIES[match[1]]
        found.append((negated, text[: match.start()] + negated + text[match.end() :]))
    for match in re.finditer(rf"(?<!my )(?<!the )\b({'|'.join(_VERBS)})\b", text):
        for negation in ("do not", "don't"):
            negated = f"{negation} {match[1]}"
            found.append((negated, text[: match.start()] + negated + text[match.end() :]))
    return tuple(found)
