"""What two models heard of a statement, as the evidence of both.

They were trained apart and hear the same audio in ways of their own. So their log likelihood
ratios are added up, as those of two witnesses who have not talked to each other.
"""

from __future__ import annotations

from palprep.consent import PartReading, SecondHearing


def together(part: PartReading) -> PartReading:
    """The part as both models hear it, where a second one was asked.

    Of each word the greater probability counts. Of another wording the second model counts where
    it speaks for the required one: what the first model lets pass was heard already, and where it
    hears something else, only a second model that hears the required words can turn that. Of added
    words it counts either way: what was added may be an accident of one model, but not of both.
    """
    second = part.second
    if second is None:
        return part
    probabilities = [
        max(word.probability, other)
        for word, other in zip(part.aligned, second.probabilities, strict=True)
    ]
    if part.name is not None:
        place = slice(part.name.first, part.name.last)
        own = [word.probability for word in part.aligned[place]]
        # Each can take one half of a wrong name for the right one: no name is put together of both.
        probabilities[place] = max(own, second.probabilities[place], key=min)
    return part.model_copy(
        update={
            "aligned": tuple(
                word.model_copy(update={"probability": probability})
                for word, probability in zip(part.aligned, probabilities, strict=True)
            ),
            "instead": tuple(
                one.model_copy(update={"log_likelihood_ratio": one.log_likelihood_ratio + counted})
                for one, counted in zip(part.instead, _counted(part, second), strict=True)
            ),
        }
    )


def _counted(part: PartReading, second: SecondHearing) -> list[float]:
    return [
        other if one.first == one.last else max(0.0, other)
        for one, other in zip(part.instead, second.instead, strict=True)
    ]
