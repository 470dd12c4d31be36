"""From a file to its facts: which measures are taken of what, each in as few passes as can be.

An image is decoded once. A recording is decoded once, for its levels and for the voice in it.
Modules that only recordings or videos need (:mod:`.video_probing`) are loaded when one is probed:
loading them takes longer than looking at an image.
"""

from __future__ import annotations

import numpy as np

from palprep import speech
from palprep.facts.facts import Facts, Speaker
from palprep.media import images, sound
from palprep.media.images import probe_image
from palprep.media.sources import Source
from palprep.values import Kind, Role
from palprep.vision import MAX_SIDE, Models, analyse_image


def probe(
    source: Source,
    role: Role,
    *,
    max_memory_mb: float | None,
    most_s: float | None,
    speaker: Speaker | None = None,
    quick: bool = False,
    speakers: speech.SpeakerFacts | None = None,
) -> Facts:
    """Everything that can be measured of a file in that role. An image whose decoding takes more
    than ``max_memory_mb`` is not looked at; what lies beyond ``most_s`` seconds of sound or video
    is neither listened to nor looked at. None of either is no limit.

    ``quick`` looks at headers, packets and a few key frames, and listens to nothing. Where it is
    known of a recording how many ``speakers`` it has, they are not told apart again.
    Raises MediaError for a file that cannot be read.
    """
    match source.type.kind:
        case Kind.IMAGE:
            image, picture = probe_image(source, max_side=MAX_SIDE, max_memory_mb=max_memory_mb)
            portrait = None
            if picture is not None:
                size = (image.width, image.height)
                portrait = analyse_image(np.asarray(picture), Models.shared(), size=size)
            return Facts(file=source.facts, image=image, portrait=portrait)
        case Kind.AUDIO if quick:
            return Facts(file=source.facts, recording=sound.probe_audio(source))
        case Kind.AUDIO:
            recording, voice = speech.measure_voice(
                source, tell_speakers=speakers is None, most_s=most_s
            )
            if speakers:
                voice = voice.model_copy(update={"speakers": speakers})
            return Facts(file=source.facts, recording=recording, voice=voice)
        case Kind.VIDEO:
            from palprep.facts.video_probing import probe_video  # noqa: PLC0415 -- see above

            return probe_video(source, role, speaker, most_s=most_s, quick=quick)
        case Kind.OTHER:
            raise source.unsupported("")


_SMALL_PX = 256
"""A JPEG is decoded at an eighth of its size where that is at least so large."""


def coded_alike(known: Facts, source: Source, output: Source) -> Facts | None:
    """The facts of ``output``, into which a fix has copied the coded bytes of ``source``: its
    headers are measured, and what was seen and heard of the source is kept. None where the two do
    not show and play the same, by all packets of a video, or a small decode of an image.

    Raises MediaError for a file that cannot be read.
    """
    if known.video is not None:
        from palprep.facts.video_probing import repacked  # noqa: PLC0415 -- see above

        video = repacked(known.video, source, output)
        if video is None:
            return None
        return known.model_copy(update={"file": output.facts, "video": video})
    # However much memory it takes: the source was decoded, as its profile allows.
    one, other = (
        images.open_image(each, max_side=_SMALL_PX, max_memory_mb=None)[1]
        for each in (source, output)
    )
    if one != other:
        return None
    image, _ = probe_image(output, max_memory_mb=0)
    return known.model_copy(update={"file": output.facts, "image": image})
