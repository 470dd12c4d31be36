"""Facts of audio that was decoded for its levels, and for nothing else."""

from __future__ import annotations

from palprep.media import AudioFacts, Source, VideoFacts, probe_audio, probe_video, with_sound


def heard_audio(source: Source) -> AudioFacts:
    return probe_audio(source, sinks=lambda _: ())


def heard_video(source: Source) -> VideoFacts:
    video = probe_video(source)
    return video if video.audio is None else with_sound(video, heard_audio(source))
