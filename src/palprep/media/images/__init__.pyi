from .frames import (
    SampledFrame as SampledFrame,
    frames_at as frames_at,
    is_large as is_large,
    prefetch as prefetch,
    sample_frames as sample_frames,
    spread_frames as spread_frames,
    thumbnail as thumbnail,
)
from .light import LINEAR as LINEAR, to_srgb as to_srgb
from .pixels import Box as Box
from .signal import SignalMeter as SignalMeter
from .stills import bare_jpeg as bare_jpeg, open_image as open_image, probe_image as probe_image
