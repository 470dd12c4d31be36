"""From a file to its facts: which measures are taken of what, each in as few passes as can be.

A still is decoded once. A video's packets are walked once, its frames decoded once and
sparsely, and its sound listened to once.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Self

from pydantic import model_validator

from palprep.consent.facts import ConsentFacts
from palprep.consent.statements import fill_statement, required_statement
from palprep.consent.verify import verify_consent
from palprep.consent.whisper import Whisper
from palprep.errors import ToolMissing, UnsupportedMedia
from palprep.facts.facts import Facts
from palprep.media.audio import probe_audio
from palprep.media.facts import FileFacts, MediaType, VideoFacts
from palprep.media.frames import sample_frames
from palprep.media.image import probe_and_open
from palprep.media.prefetch import ahead
from palprep.media.signal import SignalMeter
from palprep.media.video import probe_video
from palprep.speech.facts import VoiceFacts
from palprep.speech.listen import listen
from palprep.speech.silero import Silero
from palprep.values import Kind, Role, Value
from palprep.vision.analysis import MAX_SIDE, look
from palprep.vision.footage import CLOSE_LOOKS, watch
from palprep.vision.footage_facts import FootageFacts
from palprep.vision.models import Models

FRAME_SIDE = 960
"""Longer side, in pixels, of the frames of a video that are looked at."""

MOST_SAMPLES = 120
"""Frames of a video that are looked at, whatever its length."""

QUICK_SAMPLES, QUICK_LOOKS = 8, 2
"""Key frames that are looked at, and those of them that get every measure of a still."""

SHORTEST_STEP_S = 0.25
"""Frames closer together than this add nothing, even in a short clip: lips move slower."""


class Speaker(Value):
    """Whose consent is listened for. ``statement`` None takes palprep's own template.

    Raises UsageError for a statement that names nobody, and for a language without one.
    """

    full_name: str
    statement: str | None = None
    language: str = "en"

    @model_validator(mode="after")
    def _names_the_speaker(self) -> Self:
        template = self.statement or required_statement(language=self.language)
        fill_statement(template, self.full_name)
        return self


class Toolkit:
    """What measuring needs, loaded when first used and kept. Safe to share by threads."""

    def __init__(self, models: Models | None = None) -> None:
        self.models = models or Models()

    @cached_property
    def voice_activity(self) -> Silero:
        """The network that tells speech from everything else."""
        return Silero.load()

    @cached_property
    def whisper(self) -> Whisper | None:
        """The model that verifies words, None when the extra ``consent`` is not installed."""
        try:
            return Whisper.load(None)
        except ToolMissing:
            return None


def probe(
    path: Path,
    media_type: MediaType,
    role: Role,
    toolkit: Toolkit,
    *,
    speaker: Speaker | None = None,
    quick: bool = False,
) -> Facts:
    """Everything that can be measured of a file in that role.

    ``quick`` looks at headers, packets and a few key frames, and listens to nothing.
    Raises MediaError for a file that cannot be read.
    """
    file = FileFacts(
        path=str(path), name=path.name, size_bytes=path.stat().st_size, type=media_type
    )
    match media_type.kind:
        case Kind.IMAGE:
            still, pixels = probe_and_open(path, media_type, max_side=MAX_SIDE)
            seen = look(pixels, toolkit.models, size=(still.width, still.height))
            return Facts(file=file, image=still, portrait=seen)
        case Kind.AUDIO:
            sound = probe_audio(path, media_type, levels=not quick)
            voice = (
                None
                if quick
                else listen(path, media_type, sound=sound, network=toolkit.voice_activity)
            )
            return Facts(file=file, recording=sound, voice=voice)
        case Kind.VIDEO:
            return _probe_video(file, role, toolkit, speaker=speaker, quick=quick)
        case Kind.OTHER:
            raise UnsupportedMedia(f"{path.name} is {media_type.description}")


def _probe_video(
    file: FileFacts,
    role: Role,
    toolkit: Toolkit,
    *,
    speaker: Speaker | None,
    quick: bool,
) -> Facts:
    path = Path(file.path)
    video = probe_video(path, file.type, levels=not quick)
    if quick:
        video, footage = _watched(path, file.type, video, toolkit, quick=True)
        return Facts(file=file, video=video, portrait=footage.typical(), footage=footage)
    if role is Role.VOICE_AUDIO:
        return Facts(file=file, video=video, voice=_listened(path, file.type, video, toolkit))
    with ThreadPoolExecutor(max_workers=1) as beside:
        # Decoders and networks leave Python's lock alone, so that eye and ear work at once.
        hearing = beside.submit(_listened, path, file.type, video, toolkit)
        video, footage = _watched(path, file.type, video, toolkit, quick=False)
        voice = hearing.result()
    return Facts(
        file=file,
        video=video,
        portrait=footage.typical(),
        footage=footage,
        voice=voice,
        consent=_verified(path, video, toolkit, speaker),
    )


def _listened(
    path: Path, media_type: MediaType, video: VideoFacts, toolkit: Toolkit
) -> VoiceFacts | None:
    if video.audio is None:
        return None
    return listen(path, media_type, sound=video.audio, network=toolkit.voice_activity)


def _watched(
    path: Path, media_type: MediaType, video: VideoFacts, toolkit: Toolkit, *, quick: bool
) -> tuple[VideoFacts, FootageFacts]:
    most = QUICK_SAMPLES if quick else MOST_SAMPLES
    step_s = max(SHORTEST_STEP_S, video.duration_s / most)
    signal = SignalMeter(key_frames_only=quick)
    frames = sample_frames(
        path,
        media_type,
        per_second=1 / step_s,
        max_side=FRAME_SIDE,
        key_frames_only=quick,
        glance=signal.add,
    )
    footage = watch(
        # The next frames are decoded while faces are looked for.
        ahead(frames),
        toolkit.models,
        every_s=step_s,
        count=max(1, int(video.duration_s / step_s)),
        close_looks=QUICK_LOOKS if quick else CLOSE_LOOKS,
    )
    return video.model_copy(update={"signal": signal.result()}), footage


def _verified(
    path: Path, video: VideoFacts, toolkit: Toolkit, speaker: Speaker | None
) -> ConsentFacts | None:
    if speaker is None or video.audio is None:
        return None
    return verify_consent(
        path,
        full_name=speaker.full_name,
        statement=speaker.statement,
        language=speaker.language,
        model=toolkit.whisper,
    )
