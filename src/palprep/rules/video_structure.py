"""Rules of how a training video is built: the shares of speaking and of listening."""

from __future__ import annotations

from palprep.facts.timeline import Timeline
from palprep.rules.needs import STRUCTURE
from palprep.rules.rule import Measured, Rule, Unmeasured


class VideoSpeakingShare(Rule[Timeline]):
    """The person speaks for about half of a training video: the model learns lips and voice."""

    needs = STRUCTURE
    id = "video_speaking_share"
    label = "Speaking"
    unit = "of the seconds"
    advice = "Speak for the first half, consent included; then listen for the second half."

    def measure(self, line: Timeline) -> Measured | Unmeasured:
        return _share(line.speaking_share, "speaking")


class VideoStillShare(Rule[Timeline]):
    """The person listens for the other half: mouth shut, looking at the lens, breathing calmly."""

    needs = STRUCTURE
    id = "video_still_share"
    label = "Listening and still"
    unit = "of the seconds"
    advice = "After speaking, look into the lens with your mouth shut for as long again."

    def measure(self, line: Timeline) -> Measured | Unmeasured:
        return _share(line.still_share, "still")


class MouthMoves(Rule[Timeline]):
    """The mouth moves while words are spoken: the person who is seen is the one who speaks. Where
    the consent statement was heard, its words count alone."""

    needs = STRUCTURE
    id = "mouth_moves"
    label = "Mouth moves"
    unit = "of the seconds"
    predicts = "consent"
    advice = "Record audio and video together, of the person who speaks."

    def measure(self, line: Timeline) -> Measured | Unmeasured:
        stated = line.consent
        spoken, when = [second for second in line.seconds if second.speaking], "somebody speaks"
        if stated is not None:
            when = "the statement is spoken"
            spoken = [
                second
                for second in line.seconds
                if stated.start_s <= second.at_s + 0.5 <= stated.end_s
            ]
        known = [second.mouth_moves for second in spoken if second.mouth_moves is not None]
        if not known:
            return Unmeasured(reason=f"No mouth is seen while {when}.")
        share = sum(known) / len(known)
        return Measured(value=round(share, 3), shown=f"{share:.0%} of the time while {when}")


def _share(share: float | None, word: str) -> Measured | Unmeasured:
    if share is None:
        return Unmeasured(reason="Neither speech nor a face could be measured.")
    return Measured(value=round(share, 3), shown=f"{share:.0%} of the time {word}")
