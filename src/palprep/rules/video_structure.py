"""Rules of how a training video is built: the shares of speaking and of listening."""

from __future__ import annotations

from palprep.facts import Timeline
from palprep.rules.needs import STRUCTURE
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.rules.sentences import Sentences

NO_SPEAKING = Unmeasured(reason="It could not be heard who speaks when.")
NO_LISTENING = Unmeasured(reason="Neither speech nor a face could be measured.")
NO_MOUTH = Unmeasured(reason="No mouth is seen while somebody speaks.")
NO_STATING_MOUTH = Unmeasured(reason="No mouth is seen while the statement is spoken.")

NOT_STILL = 0.01
"""The share of a mouth that hardly moves, or is hardly seen, and was not seen to be still. A limit
of this size is broken by a still mouth alone."""


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
    the consent statement was heard, its words count alone. A mouth that is seen for 3 s of them, in
    13 samples, and changes no more than that of a photograph is still: its share is 0. Any other
    mouth counts with 1% at the least. Where the statement holds fewer samples, all that is spoken
    tells whether the mouth is still."""

    needs = STRUCTURE
    id = "mouth_moves"
    label = "Mouth moves"
    unit = "of the seconds"
    predicts = "consent"
    sentences = Sentences(
        "The mouth moves in {share} of the seconds that are spoken.",
        below="The mouth moves in only {share} of the seconds that are spoken.",
        statement="The mouth moves in only {share} of the seconds of the statement.",
        still="The mouth does not move while somebody speaks, though it is seen for {seen} s.",
        still_statement="The mouth does not move while the statement is spoken, though it is seen "
        "for {seen} s.",
    )
    advice = (
        "Record audio and video together, of the person who speaks. Use no photograph, and add no "
        "voice later."
    )

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
        when = "somebody speaks" if stated is None else "the statement is spoken"
        share = sum(known) / len(known)
        value, way = max(NOT_STILL, round(share, 3)), None if stated is None else "statement"
        shown = f"{share:.0%} of the time while {when}"
        if line.mouth is not None and line.mouth.still:
            value, way = 0.0, "still_statement" if line.mouth.stated else "still"
            shown = f"its opening varies by {line.mouth.variation:.1%}"
        return Measured(
            value=value,
            shown=shown,
            way=way,
            words={
                "share": f"{share:.0%}",
                "seen": f"{line.mouth.seen_s if line.mouth else 0:.1f}",
            },
        )


def _share(share: float | None, word: str, unknown: Unmeasured) -> Measured | Unmeasured:
    if share is None:
        return unknown
    return Measured(
        value=round(share, 3),
        shown=f"{share:.0%} of the time {word}",
        words={"share": f"{share:.0%}"},
    )
