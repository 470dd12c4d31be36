"""Rules of how a training video is built: the shares of speaking and of listening."""

from __future__ import annotations

from palprep.facts.timeline import Timeline
from palprep.rules.needs import STRUCTURE
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.rules.sentences import Sentences

NO_SPEAKING = Unmeasured(reason="It could not be heard who speaks when.")
NO_LISTENING = Unmeasured(reason="Neither speech nor a face could be measured.")
NO_MOUTH = Unmeasured(reason="No mouth is seen while somebody speaks.")
NO_STATING_MOUTH = Unmeasured(reason="No mouth is seen while the statement is spoken.")


class VideoSpeakingShare(Rule[Timeline]):
    """The person speaks for about half of a training video: the model learns lips and voice."""

    needs = STRUCTURE
    id = "video_speaking_share"
    label = "Speaking"
    unit = "of the seconds"
    sentences = Sentences(
        "Speech takes {share} of the time.",
        below="There is too little speaking: it takes {share} of the time.",
        above="There is too much speaking: it takes {share} of the time.",
    )
    advice = "Speak for the first half, consent included. Then listen for the second half."

    def measure(self, line: Timeline) -> Measured | Unmeasured:
        return _share(line.speaking_share, "speaking", NO_SPEAKING)


class VideoStillShare(Rule[Timeline]):
    """The person listens for the other half: mouth shut, looking at the lens, breathing calmly."""

    needs = STRUCTURE
    id = "video_still_share"
    label = "Listening and still"
    unit = "of the seconds"
    sentences = Sentences(
        "Listening takes {share} of the time.",
        below="There is too little silent listening: it takes {share} of the time.",
        above="There is too much silent listening: it takes {share} of the time.",
    )
    advice = "After speaking, look into the lens with your mouth shut for as long again."

    def measure(self, line: Timeline) -> Measured | Unmeasured:
        return _share(line.still_share, "still", NO_LISTENING)


class MouthMoves(Rule[Timeline]):
    """The mouth moves while words are spoken: the person who is seen is the one who speaks. Where
    the consent statement was heard, its words count alone."""

    needs = STRUCTURE
    id = "mouth_moves"
    label = "Mouth moves"
    unit = "of the seconds"
    predicts = "consent"
    sentences = Sentences(
        "The mouth moves in {share} of the seconds that are spoken.",
        below="The mouth moves in only {share} of the seconds that are spoken.",
        statement="The mouth moves in only {share} of the seconds of the statement.",
    )
    advice = "Record audio and video together, of the person who speaks."

    def measure(self, line: Timeline) -> Measured | Unmeasured:
        stated = line.consent
        spoken = [second for second in line.seconds if second.speaking]
        if stated is not None:
            spoken = [
                second
                for second in line.seconds
                if stated.start_s <= second.at_s + 0.5 <= stated.end_s
            ]
        known = [second.mouth_moves for second in spoken if second.mouth_moves is not None]
        if not known:
            return NO_MOUTH if stated is None else NO_STATING_MOUTH
        share = sum(known) / len(known)
        when = "somebody speaks" if stated is None else "the statement is spoken"
        return Measured(
            value=round(share, 3),
            shown=f"{share:.0%} of the time while {when}",
            way=None if stated is None else "statement",
            words={"share": f"{share:.0%}"},
        )


def _share(share: float | None, word: str, unknown: Unmeasured) -> Measured | Unmeasured:
    if share is None:
        return unknown
    return Measured(
        value=round(share, 3),
        shown=f"{share:.0%} of the time {word}",
        words={"share": f"{share:.0%}"},
    )
