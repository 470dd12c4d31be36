"""Facts of audio that was decoded for its levels, and for nothing else."""

from __future__ import annotations

from palprep.media import AudioFacts, Source, VideoFacts, probe_audio, scan_video


def heard_audio(source: Source) -> AudioFacts:
    return probe_audio(source, sinks=lambda _: ())


def heard_video(source: Source) -> VideoFacts:
    with scan_video(source, sinks=lambda _: ()) as scan:
        return scan.listen()
