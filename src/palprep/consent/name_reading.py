"""The name as it is heard: what stands in its place, and how well the audio bears the name out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from palprep.consent.compare import compare
from palprep.consent.facts import NameReading
from palprep.consent.names import locate_name, same_name
from palprep.consent.statement import Statement
from palprep.consent.whisper import Heard, Whisper, mean_probability
from palprep.consent.words import Word, split_words

_AFTER_NAME = 4
"""Words after the name that are looked at to find where it ends."""
_RIVALS = 3
"""So many other readings of the name's place are weighed against it."""


def read_name(
    model: Whisper, heard: Heard, statement: Statement, texts: Sequence[str], lead: str
) -> NameReading:
    """The name's place as several free readings have it, and how well the name fits it.

    ``lead`` is what is heard before the statement. "I, Jane Doe, am" is easily written down as
    "I'm". So the model also reads on from the statement's words before the name, freely, but
    without a way around it.
    """
    before = statement.text[: statement.words[statement.name.start].begin].rstrip()
    begun = f"{lead} {before}".strip()
    onward = model.continuations(heard, begun, statement.language)
    found = _found(statement, [*(text.removeprefix(lead) for text in onward), *texts])
    best = max(found, key=lambda one: (one.same, one.likeness), default=NameReading())
    end = statement.words[: statement.name.stop + _AFTER_NAME][-1].end
    prompted = model.align(
        heard, statement.text[:end], statement.language, lead=lead, prompt=statement.full_name
    )
    name = _keys(statement.name_words)
    rivals = {_keys(split_words(one.heard)): one.heard.strip(" ,.;:?!") for one in (best, *found)}
    others = [keys for keys in rivals if keys not in (name, ())][:_RIVALS]
    weigh = partial(model.weigh, heard, language=statement.language, lead=lead)
    ratios = {keys: _ratio(weigh, statement, rivals[keys], end) for keys in others}
    return best.model_copy(
        update={
            "transcript_likeness": found[len(onward)].likeness,
            "prompted_probability": min(
                mean_probability(prompted, word.begin, word.end) for word in statement.name_words
            ),
            "log_likelihood_ratio": ratios.get(
                _keys(split_words(best.heard)), None if best.heard else 0.0
            ),
            "least_log_likelihood_ratio": min(ratios.values(), default=None),
        }
    )


def _found(statement: Statement, texts: Sequence[str]) -> list[NameReading]:
    """What each free reading has in the name's place."""
    begun = statement.words[: statement.name.stop + _AFTER_NAME]
    found = []
    for text in texts:
        words = split_words(text)
        place = locate_name(compare(begun, words), statement.name, statement.words, words)
        run = words[place.first : place.last]
        shown = " ".join(word.shown for word in run)
        same = same_name(statement.name_words, run)
        found.append(NameReading(heard=shown, likeness=place.likeness, same=same))
    return found


def _ratio(
    weigh: Callable[..., tuple[float, ...]], statement: Statement, instead: str, end: int
) -> float:
    """Log of P(the name) / P(what was heard instead), of the statement's first ``end`` characters.

    The model is prompted with both spellings, once in each order, for it favours the later one.
    """
    first, last = statement.name_words[0].begin, statement.name_words[-1].end
    ours = statement.text[:end]
    pair = (ours, f"{ours[:first]}{instead}{ours[last:]}")
    ratios = []
    for prompt in (f"{statement.full_name}. {instead}", f"{instead}. {statement.full_name}"):
        name, other = weigh(pair, prompt=prompt)
        ratios.append(name - other)
    return sum(ratios) / len(ratios)


def _keys(words: Sequence[Word]) -> tuple[str, ...]:
    return tuple(key for word in words for key in word.keys)
