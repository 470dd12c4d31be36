"""What is said beside the statement: harmless, a doubt, or something that changes what it means.

A short closed list holds what is harmless: greetings, thanks, fillers, who speaks, that the
recording starts or ends. What repeats the statement's own words, as after a slip, is harmless too.
Everything else is a doubt, whatever it is. A doubt becomes a failure where words negate, set
conditions or limits, protest, or name another person. Phrases are English, in the spelling of
``keys_of``: "by" for "bye", "write" for "right", "its" for "it's", "their" for "there".
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from palprep.consent import ConsentFacts, Surroundings
from palprep.consent.wording import LIKE_SOUND, NEAR_SOUND, Word, keys_of, similarity, split_words
from palprep.values import Outcome

_PHRASES = r"""
hello|hi|hey|cheers|welcome|good (morning|afternoon|evening|day|night)|nice to meet you
(many )?thanks?( you)?( very| so)?( much)?( for (having me|listening|watching|TIME))?
(good)?bye?|see you( soon| later| then)?|(have )?an? (nice|good|great) (day|evening|weekend|one)
everyone|everybody|their|folks|again|once more|now|then|out|over|please|and
okay|so|well|write|alright|all write|yes|yeah|yep|uh?m|uh|erm?|ah|hm+|mm+|good|great|perfect|fine
sorry|pardon|oops|excuse me|no (problem|worries)|how are you
(from|at) the (top|start|beginning)|one to three|three to one|testing
(mic|microphone|sound) (test|check)|mic|action
cut( TEXT)?(?! (out|my|the|this))
take (one|to|three|for|five)|here (we|i) go|go ahead|ready when you are
((let (me|us)|i|we)( will| can| am going to| would like to)?( now)? )?DO( it| that| THE)?
i am( now)? (starting|beginning|reading|recording) THE
(you can )?(stop|end) (recording|TEXT)
((are (you|we)|i am|we are|you are|is it|its|is this( thing)?) )?((all|still|now) )*(READY|on)
((this|heres?|that|thats|its|it)( is| was)? )?((the )?(start|beginning|end)( of)? )?TEXT
(this|heres?|that|thats|its|it)( is| was)? THE
((that|this|it) (is|was)|thats|its) (it|all)|(that is )?the end
(was|is) (that|it) (okay|good|fine|alright|all write)
((my|the) (full )?name(s| is)? |i( am)? |(this|it) is |its )?@( speaking| here)?
"""
_OWN = "((the|my|this|a) )?((consent|voice|video|audio|training) )*"
_OF = "( (for|of) (the|my) (training|recording|video|clone|avatar))?"
_TEXT = f"{_OWN}(statement|recording|video|declaration|text|clip|form)( of (my )?consent)?{_OF}"
"""What can be stopped or cut. A consent cannot: to stop it is to take it back."""
_PARTS = {
    "DO": "(start|begin|try|read( out)?|say|repeat)",
    "TIME": "(your time|taking the time( to (meet|see) me)?)",
    "READY": "(ready|set|done|finished|recording|running|rolling)",
    "THE": f"({_TEXT}|{_OWN}consent{_OF})",
    "TEXT": _TEXT,
}
_WHOLE = re.sub("|".join(_PARTS), lambda one: _PARTS[one[0]], _PHRASES.strip().replace("\n", "|"))
_HARMLESS = re.compile(rf"(?<![\w@])({_WHOLE})(?![\w@])")
"""``@`` is the speaker's name."""
_GRAVE = re.compile(
    r"\b(?:not|never|no|none|nothing|neither|nor|without|hardly"
    r"|withdr\w+|revo[ck]\w+|rescind\w*|retract\w*|cancel\w*|disagree\w*|refus\w+|declin\w+"
    r"|den(?:y|ies|ied)|object\w*|protest\w*|against|duress|pressure\w*|forc(?:e|ed|ing)|coerc\w+"
    r"|threat\w*|unwilling\w*|reluctant\w*|reserv\w+|if|unless|except\w*|only|provided|conditions?"
    r"|subject|as long as|limit\w*|restrict\w*|exclu\w+|until|till|expir\w+|temporar\w+|valid"
    r"|invalid|void|purposes?|otherwi[sz]e|tests?|trial|rehears\w+|practi[csz]e|example|jok\w+|kidding"
    r"|pretend\w*|fake|false|untrue|lies?|lying|lied|mistake\w*|forget|ignore|disregard|scratch"
    r"|strike|scrap|erase|delete\w*|undo|take (?:\w+ ){0,4}back|take back|chang\w+ my mind"
    r"|made me|(?:told|ordered|paid) (?:me )?to)\b"
)
_SUBJECT = re.compile(
    r"\b(?:consent\w*|permi\w+|agree\w*|allow\w*|authori[sz]\w+|withdr\w+|revo[ck]\w+"
    r"|rescind\w*|retract\w*|disagree\w*)\b"
)
_AFFIRMED = re.compile(
    r"(?:(?:i|we|do|am|id|would|like|want|going|ready|to|hereby|freely|fully|confirm|agree|consent"
    r"|give|giving|reading|my|the|this|that|it|all|of|for|ai|clone|form)(?: |$))+"
)
"""Words that only affirm the consent. They are a doubt: a “not” may have gone unheard."""
_TAKEN_BACK = re.compile(
    r"\bchang\w+ my mind|\bt(?:ake|ook|aking) back (?:what|everything|all|my)\b"
    r"|\bt(?:ake|ook) (?:it|that|this|all|everything)(?: \w+){0,3} back\b"
)
_AGAINST = re.compile(
    rf"{_TAKEN_BACK.pattern}|\b(?:withdr|revo[ck]|rescind|retract)\w*"
    r"|\bi (?:\w+ ){0,2}not (?:\w+ )?(?:agree|allow|permit|authori[sz]e)\b"
)
_NAMED = re.compile(
    r"\b[Nn]ame(?:'s| is)(?: [a-z]+)?((?: [A-ZÀ-ÞĀ-ž][\w']+)+)"
    r"|\b(?:I'm|I am|[Tt]his is|behalf of)((?: [A-ZÀ-ÞĀ-ž][\w']+){2,})"
)
_NEAR = 14
"""So many words next to the statement can belong to a remark about it."""
_REPEATED = 3
"""So many consecutive words of the statement repeat it."""


class Beside(NamedTuple):
    outcome: Outcome
    said: str


def grade_before(
    around: Surroundings, required: Sequence[Word], names: Sequence[str], *, sure: bool
) -> Beside:
    """Grade what is said before the statement. ``required`` are the statement's words, ``names``
    the speaker's name as written and as heard. If the statement's beginning is not ``sure``, the
    last words before it may be that beginning, misheard: what only they say is a doubt.
    """
    near = slice(-_NEAR, None)
    found = _grade(around.before, required, names, near=near, talk=False)
    if found.outcome is Outcome.FAIL and not sure:
        surely = " ".join(around.before.split()[: -len(names[0].split()) - 1])
        if _grade(surely, required, names, near=near, talk=False).outcome is not Outcome.FAIL:
            found = found._replace(outcome=Outcome.WARN)
    if found.outcome is Outcome.PASS and _left_over(around.perhaps_before, required, names):
        return Beside(Outcome.WARN, _nearby(around.perhaps_before, near))
    return found


def grade_after(
    around: Surroundings, required: Sequence[Word], names: Sequence[str], *, talk: bool
) -> Beside:
    """Grade what is said after the statement: by its first reading, unless another one fails. Of
    ``talk`` that goes on, as in a training video, only what bears on the consent counts.
    """
    texts = dict.fromkeys(filter(None, around.after))
    grades = [_grade(text, required, names, near=slice(_NEAR), talk=talk) for text in texts]
    grave = [each for each in grades if each.outcome is Outcome.FAIL]
    return next(iter((*grave[-1:], *grades)), Beside(Outcome.PASS, ""))


def taken_back(heard: ConsentFacts) -> str:
    """The sentence of a recording beside the consent that refuses a consent or takes it back,
    wherever it stands there; empty without one. Ordinary talk is full of what limits something."""
    required = split_words(heard.statement)
    names = [heard.full_name, *([heard.spoken_as] if heard.spoken_as else [])]
    for said in re.split(r"(?<=[.!?])\s", heard.transcript):
        words, left = _keys(said), _left_over(said, required, names)
        if _AGAINST.search(words) or ("consent" in words and any(map(_GRAVE.search, left))):
            return _nearby(said, slice(_NEAR))
    return ""


def is_grave(said: str) -> bool:
    """Whether words negate, set conditions or limits, protest, or take something back."""
    return _GRAVE.search(_keys(said)) is not None


def is_slip(said: str, before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether words between those of the statement are harmless, or only repeat the words next to
    them, whole or begun."""
    ended, goes_on = (f" {_keys(' '.join(words))} " for words in (before, after))
    pieces = (f" {piece.strip()}" for piece in _HARMLESS.sub("/", _keys(said)).split("/"))
    return all(ended.endswith(f"{piece} ") or goes_on.startswith(piece) for piece in pieces)


def _nearby(text: str, near: slice) -> str:
    return " ".join(text.split()[near])


def _grade(
    text: str, required: Sequence[Word], names: Sequence[str], *, near: slice, talk: bool
) -> Beside:
    """The grade, with the words next to the statement, or the sentence further off that counts."""
    left, nearest = _left_over(text, required, names), _nearby(text, near)
    bearing = {
        said: all(map(_AFFIRMED.fullmatch, pieces))
        for said in re.split(r"(?<=[.!?])\s", text)
        if _SUBJECT.search(_keys(said)) and (pieces := _left_over(said, required, names))
    }

    def graded(outcome: Outcome, sentence: str = "") -> Beside:
        return Beside(outcome, nearest if sentence.strip() in nearest else _nearby(sentence, near))

    counts = (_GRAVE.search(_keys(said)) if talk else not given for said, given in bearing.items())
    against = list(itertools.compress(bearing, counts))
    if against or _names_another(nearest, names):
        return graded(Outcome.FAIL, *against[:1])
    if any(_GRAVE.search(piece) for piece in _left_over(nearest, required, names)):
        # A word alone may be another one, misheard.
        return graded(Outcome.WARN if talk or len(text.split()) == 1 else Outcome.FAIL)
    if left and (bearing or not talk or _TAKEN_BACK.search(_keys(text))):
        return graded(Outcome.WARN, next(iter(bearing), "") if talk else "")
    return graded(Outcome.PASS)


def _left_over(text: str, required: Sequence[Word], names: Sequence[str]) -> list[str]:
    """The pieces that are neither harmless nor repeat the statement, in the spelling of keys."""
    said = _keys(text)
    for name in names:
        said = _with_sign(said.split(), _keys(name))
    own = _with_sign(keys_of(required).split(), _keys(names[0])).split()
    pieces = _HARMLESS.sub("/", _without_slips(said.split(), own)).split("/")
    return [piece.strip() for piece in pieces if piece.strip()]


def _without_slips(said: Sequence[str], own: Sequence[str]) -> str:
    """The words without runs that repeat the statement, and without a word that breaks off after
    one; also without a beginning of the statement as the last words, such as its "I". A grave word
    of the statement means the same only after the words that it follows there.
    """
    at, kept = 0, []
    while at < len(said):
        runs = []
        for begin in range(len(own)):
            pairs = zip(said[at:], own[begin:], strict=False)
            run = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
            broken = own[begin + run : begin + run + 1] and said[at + run : at + run + 1]
            cut = broken and own[begin + run].startswith(said[at + run])
            before, grave, _ = _GRAVE.sub("\n", " ".join(said[at : at + run]), 1).partition("\n")
            if begin and grave and len(before.split()) < _REPEATED:
                continue
            if run >= _REPEATED or (run and not begin and at + run == len(said)):
                runs.append(run + bool(cut))
        kept.append("/" if runs else said[at])
        at += max(runs, default=1)
    return " ".join(kept)


def _with_sign(said: Sequence[str], name: str) -> str:
    """The words with ``@`` in the place of the name, which is found by its sound."""
    count, words = len(name.split()), list(said)
    while True:
        likeness, first, last = max(
            (
                (similarity(name, " ".join(words[first:last])), first, last)
                for first in range(len(words))
                for last in range(first + max(1, count - 1), first + count + 2)
                # ``@`` has no sound, as some words have none: it would be replaced without end.
                if "@" not in words[first:last]
            ),
            default=(0.0, 0, 0),
        )
        if likeness < NEAR_SOUND:
            return " ".join(words)
        words[first:last] = ["@"]


def _names_another(text: str, names: Sequence[str]) -> bool:
    """Whether a person is named who sounds like no part of the speaker's name."""
    parts = [part for name in names for part in name.split()]
    found = ((one or other).strip() for one, other in _NAMED.findall(text))
    return any(
        max(similarity(each, own) for own in (names if " " in each else parts)) < LIKE_SOUND
        for each in found
    )


def _keys(text: str) -> str:
    return keys_of(split_words(text))
