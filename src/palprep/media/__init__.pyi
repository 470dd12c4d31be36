from .audio import (
    Samples as Samples,
    Sink as Sink,
    decibels as decibels,
    mixes_down as mixes_down,
    probe_audio as probe_audio,
    stream_samples as stream_samples,
)
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
from .frames import (
    SampledFrame as SampledFrame,
    frames_at as frames_at,
    prefetch as prefetch,
    sample_frames as sample_frames,
    thumbnail as thumbnail,
)
from .image import bare_jpeg as bare_jpeg, open_image as open_image, probe_image as probe_image
from .light import LINEAR as LINEAR, to_srgb as to_srgb
from .networks import (
    Weights as Weights,
    open_network as open_network,
    read_manifest as read_manifest,
)
from .pixels import Box as Box
from .signal import SignalMeter as SignalMeter
from .sniff import HEAD_BYTES as HEAD_BYTES, recognise_head as recognise_head
from .source import (
    MOST_BYTES as MOST_BYTES,
    Source as Source,
    address_of as address_of,
    is_file as is_file,
    name_of as name_of,
    no_file as no_file,
    read_binary as read_binary,
    sha256_of as sha256_of,
)
from .video import (
    carries_the_same as carries_the_same,
    probe_video as probe_video,
    with_sound as with_sound,
)
