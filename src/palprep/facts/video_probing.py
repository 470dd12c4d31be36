"""From a video to its facts.

One frame is decoded, and its packets are walked, which tells its timing. Then its sound is decoded
once: for its levels, the voice, and the opening in which consent is looked for. The frames of some
seconds with words are decoded for the lips. Meanwhile all frames are decoded, sparsely.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import takewhile
from threading import Event

from palprep import consent, media
from palprep.errors import DamagedMedia
from palprep.facts.facts import Facts, Speaker
from palprep.media import images, sources
from palprep.media.sound import Samples
from palprep.speech import RATE_HZ, Mono, VoiceFacts, measure_voice, speakers_of
from palprep.values import Role
from palprep.vision import CLOSE_LOOKS, FootageFacts, Models, analyse_footage, follow_face

FRAME_SIDE = 960
"""Longer side, in pixels, of the frames of a video that are looked at."""

MOST_SAMPLES = 120
"""Frames of a video that are looked at, whatever its length."""

QUICK_SAMPLES, QUICK_LOOKS = 8, 2
"""Key frames that are looked at, and those of them that get every measure of an image."""

SHORTEST_STEP_S = 0.25
"""Frames closer together than this add nothing, even in a short clip: lips move slower."""


def probe_video(
    source: sources.Source,
    role: Role,
    speaker: Speaker | None,
    *,
    most_s: float | None,
    quick: bool,
) -> Facts:
    """As :func:`palprep.facts.probing.probe`, of a video."""
    video = media.probe_video(source)
    if quick:
        signal, footage = _look_at(source, video, most_s, quick=True)
        video = video.model_copy(update={"signal": signal})
        return Facts(file=source.facts, video=video, portrait=footage.typical(), footage=footage)
    if role is Role.VOICE_AUDIO:
        return _listen(source, video, role, speaker, most_s)[0]
    look = partial(_look_at, source, video, most_s, quick=False)
    left = Event()
    with ThreadPoolExecutor(max_workers=1) as thread, ExitStack() as leaving:
        # What ends the look early, an interrupt or damage, does not wait for all of the lips.
        leaving.callback(left.set)
        # Decoders and networks release Python's lock: frames and audio are measured at once.
        listening = thread.submit(_listen, source, video, role, speaker, most_s)
        # Two decoders of 4K at once would take too much memory.
        looked = look() if images.is_large(video.width, video.height) else None
        following = thread.submit(lambda: _lips(source, *listening.result(), left))
        signal, footage = looked or look()
        facts, lips = listening.result()[0], following.result()
    video = (facts.video or video).model_copy(update={"signal": signal})
    starts_s, _ = video.player_times
    # Nobody is seen from then on.
    if lips and not any(each.at_s >= lips.span.start_s + starts_s for each in footage.seen):
        lips = None
    seen = {"video": video, "portrait": footage.typical(), "footage": footage, "lips": lips}
    return facts.model_copy(update=seen)


def _listen(
    source: sources.Source,
    video: media.VideoFacts,
    role: Role,
    speaker: Speaker | None,
    most_s: float | None,
) -> tuple[Facts, Samples]:
    """What is heard, and its opening as a player plays it, mono at 16 kHz."""
    facts = Facts(file=source.facts, video=video)
    opening = Mono(consent.opening_length_s(speaker.required if speaker else None))
    if video.audio is None:
        return facts, opening.samples
    alone = role is Role.VOICE_AUDIO
    audio, voice = measure_voice(
        source,
        most_s=most_s,
        stated_s=video.audio.duration_s,
        beside=() if alone else (opening.sink,),
    )
    video = media.with_sound(video, audio)
    facts = facts.model_copy(update={"video": video, "voice": voice})
    heard = consent.as_played(opening.samples, video)
    if speaker is None or voice is None or alone:
        return facts, heard
    listener = consent.model_for(speaker.required, speaker.whisper_model)
    statement = consent.read_samples(heard, speaker.required, listener)
    if role is Role.TRAINING_VIDEO:
        voice = _with_speakers(voice, statement, heard)
    return facts.model_copy(update={"voice": voice, "statement": statement}), heard


_AS_SHOWN = (
    *("codec", "pixel_format", "color_transfer", "hdr", "interlaced", "stored_width"),
    *("stored_height", "width", "height", "rotation_deg", "mirrored"),
)
"""Facts that a container adds to its packets, or repeats, and that change what is seen."""


def repacked(
    known: media.VideoFacts, source: sources.Source, output: sources.Source
) -> media.VideoFacts | None:
    """The facts of a video that was only packed anew: its headers and its index are read, what
    was decoded of the ``source`` holds. None where a player would show or play anything else."""
    if not media.carries_the_same(source, output):
        return None
    video = media.probe_video(output)
    if any(getattr(video, name) != getattr(known, name) for name in _AS_SHOWN):
        return None
    audio = known.audio
    if audio is not None and video.audio is not None:
        streams = {"streams": video.audio.streams, "chosen": video.audio.chosen}
        audio = audio.model_copy(update=streams)
    return video.model_copy(update={"signal": known.signal, "timing": known.timing, "audio": audio})


def _with_speakers(
    voice: VoiceFacts, statement: consent.StatementReading, opening: Samples
) -> VoiceFacts:
    """The voice, with several speakers where the statement alone has them: in minutes of one voice
    the seconds of another do not stand out."""
    words = statement.aligned
    if not words or voice.speakers.several:
        return voice
    within = opening[round(words[0].start * RATE_HZ) : round(words[-1].end * RATE_HZ)]
    speakers = speakers_of(within)
    return voice.model_copy(update={"speakers": speakers}) if speakers.several else voice


def _lips(
    source: sources.Source, facts: Facts, heard: Samples, left: Event
) -> consent.LipsFacts | None:
    """The lips while the statement is spoken, from frame to frame; None where nobody is heard, or
    nothing is shown from then on. Once ``left`` is set no further frame is looked at."""
    line = facts.timeline
    found = consent.stretch_of(facts.statement, line.speech) if line else None
    if line is None or found is None:
        return None
    (shown, stated), starts_s = found, line.starts_s
    frames = images.sample_frames(
        source,
        per_second=consent.FRAMES_PER_S,
        max_side=FRAME_SIDE,
        from_s=shown.start_s + starts_s,
        most_s=shown.end_s + starts_s,
    )
    try:
        wanted = takewhile(lambda _: not left.is_set(), images.prefetch(frames))
        track = follow_face(wanted, Models.shared())
    except DamagedMedia:
        return None
    track = track._replace(at_s=track.at_s - starts_s)
    return consent.measure_lips(track, shown, line.speech, heard, stated=stated)


def _look_at(
    source: sources.Source, video: media.VideoFacts, most_s: float | None, *, quick: bool
) -> tuple[media.SignalFacts | None, FootageFacts]:
    most = QUICK_SAMPLES if quick else MOST_SAMPLES
    duration_s = min(video.duration_s, math.inf if most_s is None else most_s)
    step_s = max(SHORTEST_STEP_S, duration_s / most)
    signal = images.SignalMeter(key_frames_only=quick)
    frames = images.sample_frames(
        source,
        per_second=1 / step_s,
        max_side=FRAME_SIDE,
        key_frames_only=quick,
        on_luma=signal.add,
        most_s=None if most_s is None else video.start_s + most_s,
    )
    footage = analyse_footage(
        # The next frames are decoded while faces are looked for.
        images.prefetch(frames),
        Models.shared(),
        every_s=step_s,
        count=max(1, int(duration_s / step_s)),
        close_looks=QUICK_LOOKS if quick else CLOSE_LOOKS,
    )
    return signal.result(video.start_s + duration_s), footage
