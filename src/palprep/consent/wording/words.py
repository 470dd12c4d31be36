"""Comparable words of a text: which differences of spelling do not count, roughly how words sound,
and which words turn the sense.

English spelling is turned into a short string of broad sound classes by ordered rules, and
two such strings are compared by an edit distance in which related sounds are close. That is
meant for names and for small slips of a transcript, not for pronunciation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

_CONTRACTIONS = {
    "cannot": "can not", "can't": "can not", "won't": "will not", "shan't": "shall not",
    "ain't": "is not", "i'm": "i am", "let's": "let us", "gonna": "going to",
    "wanna": "want to",
}  # fmt: skip
_ENDINGS = (("n't", "not"), ("'ve", "have"), ("'re", "are"), ("'ll", "will"))
_ONE_SOUND = (
    ("to", "too", "two"), ("for", "four", "fore"), ("one", "won"), ("by", "buy", "bye"),
    ("i", "eye", "aye"), ("you", "u", "ewe"), ("its", "it's"),
    ("their", "there", "they're"), ("write", "right", "rite"), ("here", "hear"),
    ("see", "sea", "c"), ("be", "bee", "b"), ("are", "r"), ("ate", "eight"),
    ("would", "wood"), ("whole", "hole"), ("new", "knew"), ("our", "hour"),
    ("made", "maid"), ("mail", "male"), ("sight", "site", "cite"), ("an", "ann", "anne"),
    ("principal", "principle"), ("whether", "weather"), ("sum", "some"), ("sun", "son"),
    ("way", "weigh"), ("week", "weak"), ("wear", "where"), ("your", "you're"),
    ("okay", "ok"), ("mister", "mr"), ("misses", "mrs"), ("doctor", "dr"),
)  # fmt: skip
_HOMOPHONES = {word: group[0] for group in _ONE_SOUND for word in group}
"""``no`` and ``know`` sound alike too, but one of them negates."""
_SPELLINGS = (
    (re.compile(r"(?<=[a-z]{3})is(e|es|ed|ing|ation|ations)$"), r"iz\1"),
    (re.compile(r"(?<=[a-z]{2})our(?=$|s$|ed$|ing$)"), "or"),
    (re.compile(r"(?<=[a-z]{2})tre$"), "ter"),
)
_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
APOSTROPHE = "['\u2018\u2019]"
"""As keyboards and word processors write it."""
MARKS = " ,.;:?!"
"""Signs that are left out before and after a name that was heard."""
FILLERS = frozenset(("um", "uh", "uhm", "er", "erm", "ah", "hm", "hmm", "mm"))


class Word(NamedTuple):
    """A word as written, and the keys that it is compared by."""

    shown: str
    keys: tuple[str, ...]
    begin: int
    """Characters ``begin`` up to ``end`` of the text it stands in."""
    end: int


def split_words(text: str) -> tuple[Word, ...]:
    """The words of a text; punctuation, case and typography do not count.

    One word can have several keys: ``don't`` compares as ``do not``, ``42`` as
    ``forty two``, ``well-known`` as ``well known``.
    """
    plain = re.sub(APOSTROPHE, "'", text)
    words = []
    for match in re.finditer(r"\S+", plain):
        keys = tuple(key for part in re.split("[-/\u2013\u2014]", match[0]) for key in _keys(part))
        if keys:
            words.append(Word(text[match.start() : match.end()], keys, match.start(), match.end()))
    return tuple(words)


def text_of(words: Sequence[Word]) -> str:
    """Words as they are written."""
    return " ".join(word.shown for word in words)


def keys_of(words: Sequence[Word]) -> str:
    """Words as they are compared."""
    return " ".join(key for word in words for key in word.keys)


def _keys(part: str) -> tuple[str, ...]:
    folded = unicodedata.normalize("NFKC", part).casefold()
    bare = "".join(char for char in folded if char in "'_" or _is_said(char)).strip("'_")
    if not bare:
        return ()
    if bare.isascii() and bare.isdigit() and len(bare) <= 4:
        spell = spell_number if "," in folded[1:-1] else spell_year
        return tuple(_canonical(word) for word in spell(int(bare)))
    if bare in _CONTRACTIONS:
        return tuple(_canonical(word) for word in _CONTRACTIONS[bare].split())
    for ending, full in _ENDINGS:
        if bare.endswith(ending) and len(bare) > len(ending):
            return _canonical(bare.removesuffix(ending)), full
    return (_canonical(bare),)


def _is_said(char: str) -> bool:
    """Of letters, digits, and the vowel signs of scripts such as Devanagari and Thai: neither the
    points of Hebrew and Arabic (classes 10 to 35), which are mostly left out, nor accents (200 on).
    """
    sign, kind = unicodedata.category(char) in {"Mn", "Mc"}, unicodedata.combining(char)
    # From U+FE00 on they choose how an emoji is drawn.
    return char.isalnum() or (sign and char < "\ufe00" and (kind < 10 or 35 < kind < 200))


def _canonical(word: str) -> str:
    word = _HOMOPHONES.get(word, word).replace("'", "")
    for pattern, replacement in _SPELLINGS:
        word = pattern.sub(replacement, word)
    return word


def spell_year(number: int) -> list[str]:
    """As years are said, where a number of four digits can be one: 1455 is fourteen fifty-five.
    Any other number as :func:`spell_number` has it.
    """
    century, rest = divmod(number, 100)
    if not (11 <= century <= 19 or (century == 20 and rest >= 10)):
        return spell_number(number)
    if rest == 0:
        return [*spell_number(century), "hundred"]
    return [*spell_number(century), *(["oh"] if rest < 10 else []), *spell_number(rest)]


def spell_number(number: int) -> list[str]:
    """A number from 0 to 9999 in words, without ``and``."""
    for size, name in ((1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = spell_number(number % size) if number % size else []
            return [*spell_number(number // size), name, *rest]
    if number >= 20:
        return [_TENS[number // 10 - 2], *([_UNITS[number % 10]] if number % 10 else [])]
    return [_UNITS[number]]


SAME_SOUND = 0.93
"""Two spellings are the same name when even their least similar words are this alike."""
NEAR_SOUND = 0.85
"""A run of heard words that is this alike surely is where the name was said."""
LIKE_SOUND = 0.5
"""A run of heard words that is less alike is not looked for as the name."""

_RULES = (
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
_UNDIVIDED = str.maketrans(
    {**dict(zip("łøđðı", "woddi", strict=True)), "þ": "th", "ß": "ss", "æ": "ae", "œ": "oe"}
)
"""Latin letters that Unicode does not part into a letter and a mark."""


def beyond_latin(text: str) -> bool:
    """Whether a text has letters of another script than the Latin one."""
    return any(
        "LATIN" not in unicodedata.name(char, "")
        for char in unicodedata.normalize("NFKC", text)
        if unicodedata.category(char).startswith("L") and unicodedata.category(char) != "Lm"
    )


def latin_letters(text: str) -> str:
    """A text without all but Latin letters and spaces."""
    composed = unicodedata.normalize("NFKC", text)
    return "".join(
        char for char in composed if char.isspace() or "LATIN" in unicodedata.name(char, "")
    )


@lru_cache(maxsize=4096)
def sounds(word: str) -> str:
    """The broad sounds of a word, for example ``sounds("phone") == sounds("fone")``. Letters of
    other scripts stand for themselves.
    """
    letters = "".join(
        char
        for char in unicodedata.normalize("NFKD", word.casefold().translate(_UNDIVIDED))
        if "a" <= char <= "z" or beyond_latin(char) or (_is_said(char) > char.isalnum())
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


@lru_cache(maxsize=1 << 14)
def similarity(one: str, other: str) -> float:
    """How alike two texts sound, 0 to 1; 1 means the same sounds. Spaces do not matter."""
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
