"""Everything that was measured of one file, the only thing that rules see."""

from __future__ import annotations

from palprep.consent.facts import ConsentFacts
from palprep.media.facts import AudioFacts, FileFacts, ImageFacts, VideoFacts
from palprep.speech.facts import VoiceFacts
from palprep.values import Kind, Value
from palprep.vision.facts import PortraitFacts
from palprep.vision.footage_facts import FootageFacts


class Facts(Value):
    """One file's facts. A part that was not measured, or does not apply, is None."""

    file: FileFacts
    image: ImageFacts | None = None
    recording: AudioFacts | None = None
    """The sound of an audio file; that of a video is in ``video.audio``."""
    video: VideoFacts | None = None
    portrait: PortraitFacts | None = None
    """What a still shows, or a typical frame of a video; None where nothing was looked at."""
    footage: FootageFacts | None = None
    """The person in a video, over time."""
    voice: VoiceFacts | None = None
    """What the sound is like; None where nobody listened."""
    consent: ConsentFacts | None = None
    """Whether the required statement is spoken; None where no name was given to listen for."""
    consent_apart: bool = False
    """Consent is given in a video of its own, so that none is looked for in this one."""

    @property
    def kind(self) -> Kind:
        """What the content is, whatever the file is called."""
        return self.file.type.kind

    @property
    def audio(self) -> AudioFacts | None:
        """The sound of a recording, or of a video."""
        return self.recording or (self.video.audio if self.video else None)
