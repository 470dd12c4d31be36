"""How words sound, roughly: enough to tell a spelling from another word.

English spelling is turned into a short string of broad sound classes by ordered rules, and
two such strings are compared by an edit distance in which related sounds are close. It is
meant for names and for small slips of a transcript, not for pronunciation.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

SAME_SOUND = 0.93
"""Two spellings are the same name when even their least similar words are this alike."""
NEAR_SOUND = 0.85
"""A run of heard words that is this alike surely is where the name was said."""
LIKE_SOUND = 0.5
"""A run of heard words that is less alike is not looked for as the name."""

_RULES: tuple[tuple[str, str], ...] = (
    # (pattern at the current place, sounds). Order matters: longer spellings first.
    (r"ough(?=t)", "o"),
    (r"augh|ough", "o"),
    (r"eigh|aigh", "e"),
    (r"igh", "A"),
    (r"tion|sion|cian|tian", "Sn"),
    (r"tch", "C"),
    (r"sch", "S"),
    (r"dge", "J"),
    (r"^kn|^gn|^pn", "n"),
    (r"^wr", "r"),
    (r"^x", "z"),
    (r"^ps", "s"),
    (r"^mc", "mk"),
    (r"^wh(?=o)", "h"),
    (r"mb$", "m"),
    (r"th", "T"),
    (r"sh", "S"),
    (r"ch", "C"),
    (r"ph", "f"),
    (r"gh(?=[aeiou])", "g"),
    (r"gh", ""),
    (r"h(?![aeiouy])", ""),
    (r"(?<![a-z])h?i$", "A"),
    (r"ck|qu(?=e$)", "k"),
    (r"qu", "kw"),
    (r"wh", "w"),
    (r"ng", "N"),
    (r"x", "ks"),
    (r"c(?=[eiy])", "s"),
    (r"c|q", "k"),
    (r"g(?=[eiy])", "J"),
    (r"j", "J"),
    (r"ee|ea|ie(?!$)|ei|ey$|ie$", "i"),
    (r"oo|ou(?=[lp])|ue|ew|eu", "u"),
    (r"oa|ow|oe|ou|au|aw", "o"),
    (r"ai|ay|ae", "e"),
    (r"a(?=[^aeiouywr]e$)", "e"),
    (r"i(?=[^aeiouyw]e$)|(?<=[^aeiou])y$(?<=^.y)", "A"),
    (r"(?<=.[^aeiouy])e$", ""),
    (r"e$(?<=[aeiouy]..)", ""),
    (r"y(?=[aeiou])", "j"),
    (r"y|i", "i"),
    (r"e", "E"),
    (r"a", "a"),
    (r"o", "o"),
    (r"u", "u"),
)
_COMPILED = tuple((re.compile(pattern), sound) for pattern, sound in _RULES)
_VOWELS = frozenset("iEeaAou")
_NEAR_VOWELS = frozenset(
    frozenset(pair) for pair in ("iE", "Ee", "ei", "ea", "aE", "ao", "ou", "aA", "Ai", "au")
)
_NEAR_CONSONANTS = frozenset(
    frozenset(pair)
    for pair in (
        *("pb", "td", "kg", "fv", "sz", "SC", "CJ", "SJ", "zJ", "sS", "mn", "nN", "lr"),
        *("Tt", "Tf", "Td", "Ts", "bv", "vw", "jJ", "kC", "gJ", "kh"),
    )
)
_WEAK = frozenset("hjw")
"""Sounds that come and go between spellings and accents."""


@lru_cache(maxsize=4096)
def sounds(word: str) -> str:
    """The broad sounds of a word, for example ``sounds("phone") == sounds("fone")``."""
    letters = "".join(
        char for char in unicodedata.normalize("NFKD", word.casefold()) if "a" <= char <= "z"
    )
    letters = re.sub(r"([^aeiou])\1+", r"\1", letters)
    spoken = []
    place = 0
    while place < len(letters):
        for pattern, sound in _COMPILED:
            match = pattern.match(letters, place)
            if match and match.end() > place:
                spoken.append(sound)
                place = match.end()
                break
        else:
            spoken.append(letters[place])
            place += 1
    return re.sub(r"(.)\1+", r"\1", "".join(spoken))


def similarity(one: str, other: str) -> float:
    """How alike two texts sound, 0..1; 1 means the same sounds. Spaces do not matter."""
    a = "".join(sounds(word) for word in one.split())
    b = "".join(sounds(word) for word in other.split())
    if not a or not b:
        return 1.0 if a == b else 0.0
    row = [0.0]
    for sound in b:
        row.append(row[-1] + _alone(sound))
    for left in a:
        above = row
        row = [above[0] + _alone(left)]
        for index, right in enumerate(b):
            row.append(
                min(
                    above[index] + _change(left, right),
                    above[index + 1] + _alone(left),
                    row[index] + _alone(right),
                )
            )
    return max(0.0, 1.0 - row[-1] / max(len(a), len(b)))


def _alone(sound: str) -> float:
    if sound in _WEAK:
        return 0.4
    return 0.5 if sound in _VOWELS else 1.0


def _change(left: str, right: str) -> float:
    if left == right:
        return 0.0
    pair = frozenset((left, right))
    if left in _VOWELS and right in _VOWELS:
        return 0.25 if pair in _NEAR_VOWELS else 0.6
    return 0.35 if pair in _NEAR_CONSONANTS else 1.0
