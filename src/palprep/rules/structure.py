"""Rules of how a training video is built: the shares of speaking and of listening."""

from __future__ import annotations

from palprep.facts.facts import Facts
from palprep.facts.timeline import Timeline, timeline
from palprep.rules.rule import Measured, Rule, Unmeasured


class StructureRule(Rule):
    """A rule of the time line."""

    def measure(self, facts: Facts) -> Measured | Unmeasured | None:
        line = timeline(facts)
        if line is None or facts.audio is None:
            return None
        if facts.voice is None:
            return Unmeasured(
                reason="The sound was not listened to; run the check without --quick."
            )
        return self.measure_line(line)

    def measure_line(self, line: Timeline) -> Measured | Unmeasured:
        """The measure of the time line; every subclass gives one."""
        raise NotImplementedError


class VideoSpeakingShare(StructureRule):
    """About half of a training video is speaking, so that the model learns lips and voice."""

    id = "video_speaking_share"
    label = "Speaking"
    unit = "of the seconds"
    advice = "Speak for the first half, consent included; then listen for the second half."

    def measure_line(self, line: Timeline) -> Measured | Unmeasured:
        return _measured(line.speaking_share, "speaking")


class VideoStillShare(StructureRule):
    """About half of it is listening: mouth shut, looking at the lens, breathing calmly."""

    id = "video_still_share"
    label = "Listening and still"
    unit = "of the seconds"
    advice = "After speaking, look into the lens with your mouth shut for as long again."

    def measure_line(self, line: Timeline) -> Measured | Unmeasured:
        return _measured(line.still_share, "still")


class MouthMoves(StructureRule):
    """The mouth moves while words are spoken, those of the consent statement where they were
    heard: the person in the picture is the one who speaks."""

    id = "mouth_moves"
    label = "Mouth moves"
    unit = "of the seconds"
    predicts = "consent"
    advice = "Record picture and sound together, of the person who speaks."

    def measure_line(self, line: Timeline) -> Measured | Unmeasured:
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


def _measured(share: float | None, word: str) -> Measured | Unmeasured:
    if share is None:
        return Unmeasured(reason="Neither speech nor a face could be measured.")
    return Measured(value=round(share, 3), shown=f"{share:.0%} of the time {word}")


STRUCTURE_RULES: tuple[type[Rule], ...] = (VideoSpeakingShare, VideoStillShare, MouthMoves)
