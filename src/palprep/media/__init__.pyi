from .container import (
    TAKEN_RATE_TAG as TAKEN_RATE_TAG,
    demuxer_of as demuxer_of,
    glimpse as glimpse,
)
from .facts import (
    FLOOR_DBFS as FLOOR_DBFS,
    AudioFacts as AudioFacts,
    AudioLevels as AudioLevels,
    AudioStreamFacts as AudioStreamFacts,
    FileFacts as FileFacts,
    ImageFacts as ImageFacts,
    MediaType as MediaType,
    SignalFacts as SignalFacts,
    TimingFacts as TimingFacts,
    VideoFacts as VideoFacts,
)
from .ffmpeg import (
    ffmpeg_binary as ffmpeg_binary,
    ffmpeg_version as ffmpeg_version,
    run_ffmpeg as run_ffmpeg,
)
from .video import (
    carries_the_same as carries_the_same,
    probe_video as probe_video,
    with_sound as with_sound,
)
