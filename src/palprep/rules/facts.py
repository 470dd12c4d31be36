"""Everything that was measured of one file, the only thing that rules see."""

from __future__ import annotations

from palprep.media.facts import FileFacts, Kind, SoundFacts, StillFacts, VideoFacts
from palprep.speech.facts import ConsentFacts, VoiceFacts
from palprep.values import Value
from palprep.vision.facts import PictureFacts
from palprep.vision.footage_facts import FootageFacts


class Facts(Value):
    """One file's facts. A part that was not measured, or does not apply, is None."""

    file: FileFacts
    still: StillFacts | None = None
    sound: SoundFacts | None = None
    video: VideoFacts | None = None
    picture: PictureFacts | None = None
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
    def audio(self) -> SoundFacts | None:
        """The sound of a recording, or of a video."""
        return self.sound or (self.video.sound if self.video else None)
