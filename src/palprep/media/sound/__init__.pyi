from .decoding import (
    Samples as Samples,
    Sink as Sink,
    decibels as decibels,
    mixes_down as mixes_down,
    probe_audio as probe_audio,
    stream_samples as stream_samples,
)
