"""Everything that was measured of one file, the only thing that rules see; its speaker; and a video
second by second: who speaks, who is still, and whether it is built as wanted.

The wanted structure of a training video is the statement of consent, then speaking, then
listening in silence, half and half (public guidance for avatar footage).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

from pydantic import AfterValidator, model_validator

from palprep.api import Given
from palprep.consent import ConsentFacts, LipsFacts, StatementReading
from palprep.consent.wording import AskedCode, Statement, statement_for
from palprep.media import AudioFacts, FileFacts, ImageFacts, SignalFacts, VideoFacts
from palprep.speech import VoiceFacts
from palprep.values import Span, Value, spans_within
from palprep.vision import FootageFacts, PortraitFacts

MOVING = 0.05
"""Range of the mouth's opening, over its width, within two seconds. People who speak reach
0.06 at the least in the footage that was measured, a face at rest 0.02 at the most."""

STILL = 0.075
"""A mouth whose opening varies by less does not speak. In any 13 samples of people who speak it
varies by 0.081 at the least. On a photograph that is swayed, zoomed, shaken or tilted by hand it
varies by less than this in 99 of 100 stretches (docs/accuracy.md)."""

STILL_AFTER_SAMPLES = 13
"""In how many samples a mouth must be seen before it is called still. They are a quarter of a
second apart at the least, so that they span 3 s. Fewer can by chance all meet a speaker's mouth as
wide open."""

_ALMOST_SHUT = 0.3
"""Added to the median opening, by which the deviation is divided. On a photograph that is tilted,
the opening changes in proportion to itself, which is nothing for a mouth that is shut."""

MOST_S = 86_400.0
"""The longest timeline, in seconds. Damaged timestamps say that a video lasts for years."""

SPOKEN_SHARE = 0.3
"""A second counts as spoken when this much of it is speech: words have pauses between."""


class FacingLimits(NamedTuple):
    """How far head and eyes may be off the lens, in degrees; None where nothing limits it."""

    head_deg: float | None = None
    gaze_deg: float | None = None


class Second(Value):
    """One second of the video. None where it was not measured."""

    at_s: int
    speaking: bool | None = None
    mouth_moves: bool | None = None
    seen: bool | None = None
    """A face is in every frame that was looked at."""
    head_off_deg: float | None = None
    """How far the head turns from the lens: the larger of yaw and pitch, at its largest."""
    gaze_off_deg: float | None = None
    """How far the eyes look past the lens, at the largest."""
    face_height_share: float | None = None
    """Of the frame's height, in the last sample."""
    luma: float | None = None
    """Mean luma, 0 (black) to 255."""

    @property
    def still(self) -> bool | None:
        """No speech and no moving mouth; None where neither was measured."""
        known = [value for value in (self.speaking, self.mouth_moves) if value is not None]
        return not any(known) if known else None

    def facing(self, limits: FacingLimits) -> bool | None:
        """Whether head and eyes stay within the limits; None without a face or a limit."""
        pairs = zip((self.head_off_deg, self.gaze_off_deg), limits, strict=True)
        held = [off <= most for off, most in pairs if off is not None and most is not None]
        return all(held) if held else None


class SpokenMouth(Value):
    """The mouth over the statement of consent, where that was heard and shows enough of it, else
    over all that is spoken."""

    stated: bool
    """Whether it is the statement alone."""
    samples: int
    """In how many frames a face was seen meanwhile."""
    seen_s: float
    """For how many seconds."""
    variation: float
    """Standard deviation of the mouth's opening, over its median plus 0.3."""

    @property
    def still(self) -> bool:
        """Whether it was seen for long enough, and varies less than that of any speaker."""
        return self.samples >= STILL_AFTER_SAMPLES and self.variation < STILL


class Timeline(Value):
    """All seconds of a video, and the moments and stretches that stand out.

    Times count from where a player starts: at the first frame or sample, whichever is earlier.
    """

    duration_s: float
    starts_s: float = 0.0
    """Presentation time of that start."""
    seconds: tuple[Second, ...]
    speech: tuple[Span, ...] = ()
    """Up to the end of the last picture."""
    consent: Span | None = None
    """Where the statement of consent was spoken, also after the last picture; None also where none
    was graded."""
    mouth: SpokenMouth | None = None
    """None where no face was seen while somebody speaks."""
    cuts: tuple[float, ...] = ()
    freezes: tuple[Span, ...] = ()
    black: tuple[Span, ...] = ()
    exposure_steps: tuple[float, ...] = ()


class Facts(Value):
    """One file's facts. A part that was not measured, or does not apply, is None."""

    file: FileFacts
    image: ImageFacts | None = None
    recording: AudioFacts | None = None
    """The audio of an audio file; that of a video is in ``video.audio``."""
    video: VideoFacts | None = None
    portrait: PortraitFacts | None = None
    """What an image shows, or a typical frame of a video; None where nothing was looked at."""
    footage: FootageFacts | None = None
    """The person in a video, over time."""
    voice: VoiceFacts | None = None
    """What the audio sounds like; None where it was not listened to."""
    statement: StatementReading | None = None
    """What was read of the statement of consent; None where no name was given to listen for."""
    lips: LipsFacts | None = None
    """The lips while the statement, or else anything, is spoken; None without speech."""
    consent: ConsentFacts | None = None
    """What a profile's limits make of that reading; None until rules have graded it."""

    @property
    def audio(self) -> AudioFacts | None:
        """The audio of a recording, or of a video."""
        return self.recording or (self.video.audio if self.video else None)

    @cached_property
    def timeline(self) -> Timeline | None:
        """The timeline of a video, None for everything else. Derived once."""
        return timeline_of(self, self.video) if self.video else None

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, with fields changed; what is derived from them is derived anew."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("timeline", None)
        return copied


class Speaker(Given):
    """Whose consent is listened for. ``statement`` None takes palprep's own template. ``spoken_as``
    says how the name sounds, where its letters do not.

    ``whisper_model`` is the folder of a Whisper model that listens; None is the one that
    palprep brings, which knows English alone.

    Raises UsageError for a statement that names no one, and for a language without one.
    """

    full_name: str
    statement: str | None = None
    language: str = "en"
    whisper_model: Annotated[
        Path | str | None, AfterValidator(lambda each: None if each is None else Path(each))
    ] = None
    spoken_as: str | None = None
    code: AskedCode | None = None
    """What is listened for after the statement."""

    @model_validator(mode="after")
    def _names_the_speaker(self) -> Self:
        _ = self.required
        return self

    @property
    def required(self) -> Statement:
        required = statement_for(
            self.full_name, self.statement, language=self.language, spoken_as=self.spoken_as
        )
        return required._replace(code=self.code)


def timeline_of(facts: Facts, video: VideoFacts) -> Timeline:
    """The timeline of a video, of the facts that were measured of it. See ``Facts.timeline``."""
    voice, footage, consent = facts.voice, facts.footage, facts.consent
    starts_s, late_s = video.player_times
    duration_s = min(video.start_s + video.duration_s - starts_s, MOST_S)
    heard = (span.moved(late_s) for span in voice.speech) if voice else ()
    speech = spans_within(heard, 0.0, duration_s)
    signal = video.signal or SignalFacts(frames=0, seconds=(), black=())
    stated = consent.stated if consent else None
    count = max(1, math.ceil(duration_s))
    spoken = _spoken(speech, count) if voice is not None else [None] * count
    return Timeline(
        duration_s=duration_s,
        starts_s=starts_s,
        seconds=tuple(_seconds(video, footage, starts_s, spoken)),
        speech=speech,
        consent=stated,
        mouth=_mouth(footage, starts_s, speech, stated) if footage else None,
        cuts=tuple(each - starts_s for each in signal.cuts or ()),
        freezes=tuple(span.moved(-starts_s) for span in signal.freezes or ()),
        black=tuple(span.moved(-starts_s) for span in signal.black),
        exposure_steps=tuple(each - starts_s for each in signal.exposure_steps or ()),
    )


def _seconds(
    video: VideoFacts, footage: FootageFacts | None, starts_s: float, spoken: Sequence[bool | None]
) -> Iterator[Second]:
    count, signal = len(spoken), video.signal.seconds if video.signal else ()
    people = _people(footage, starts_s, count)
    luma = {_index(each.at_s - starts_s, count): each.luma for each in signal}
    for at in range(count):
        yield Second(at_s=at, speaking=spoken[at], luma=luma.get(at), **people.get(at, {}))


def _spoken(speech: Sequence[Span], count: int) -> list[bool]:
    seconds = [0.0] * count
    for span in speech:
        for at in range(int(span.start_s), min(count, math.ceil(span.end_s))):
            seconds[at] += max(0.0, min(span.end_s, at + 1) - max(span.start_s, at))
    return [amount >= SPOKEN_SHARE for amount in seconds]


def _people(footage: FootageFacts | None, starts_s: float, count: int) -> dict[int, dict[str, Any]]:
    """What the samples of each second show; seconds without a sample are left out."""
    shown: dict[int, dict[str, Any]] = {}
    for sample in footage.samples if footage else ():
        second = shown.setdefault(_index(sample.at_s - starts_s, count), {"seen": True})
        if sample.face_height_share is None:
            second["seen"] = False
            continue
        off = {"head_off_deg": sample.head_off_deg, "gaze_off_deg": sample.gaze_off_deg or 0.0}
        second.update({name: max(second.get(name, 0.0), value) for name, value in off.items()})
        second["face_height_share"] = sample.face_height_share
    for at_s, amount in footage.mouth_motion() if footage else ():
        second = shown[_index(at_s - starts_s, count)]
        second["mouth_moves"] = second.get("mouth_moves", False) or amount >= MOVING
    return shown


def _mouth(
    footage: FootageFacts, starts_s: float, speech: Sequence[Span], stated: Span | None
) -> SpokenMouth | None:
    said = spans_within(speech, stated.start_s, stated.end_s) if stated else ()
    opened = _opened(footage, starts_s, said)
    enough = len(opened) >= STILL_AFTER_SAMPLES
    if not enough:
        opened = _opened(footage, starts_s, speech)
    if not opened:
        return None
    return SpokenMouth(
        stated=enough,
        samples=len(opened),
        seen_s=len(opened) * footage.every_s,
        variation=statistics.pstdev(opened) / (_ALMOST_SHUT + statistics.median(opened)),
    )


def _opened(footage: FootageFacts, starts_s: float, spoken: Sequence[Span]) -> list[float]:
    """How wide the mouth is open in every sample of these spans that shows a face."""
    return [
        sample.mouth_open or 0.0
        for sample in footage.seen
        if any(span.start_s <= sample.at_s - starts_s <= span.end_s for span in spoken)
    ]


def _index(at_s: float, count: int) -> int:
    return min(count - 1, max(0, int(at_s)))


def share_held(values: Iterable[bool | None]) -> float | None:
    """The share of the known values that are true, 0 to 1; None where none is known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
