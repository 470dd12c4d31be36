"""Facts of made-up recordings."""

from __future__ import annotations

from palprep.speech import VoiceFacts
from palprep.speech.facts import SpeakerFacts, Waveform
from palprep.values import Span


def voice_of(*speech: tuple[float, float], duration_s: float = 100.0, **other) -> VoiceFacts:
    """Facts of a clean recording with speech at these times, but for what is named."""
    spans = tuple(Span(start_s=start, end_s=end) for start, end in speech)
    spoken = sum(span.duration_s for span in spans)
    fields = {
        "duration_s": duration_s,
        "channels": 1,
        "speech": spans,
        "speech_s": spoken,
        "integrated_lufs": -20.0,
        "speech_rms_dbfs": -20.0,
        "true_peak_dbtp": -5.8,
        "clipped_runs": 0,
        "noise_floor_dbfs": -65.0,
        "snr_db": 45.0,
        "background": "noise",
        "reverberation_s": 0.25,
        "noise_after_gain_dbfs": -65.0,
        "bandwidth_hz": 20_000.0,
        "hum_hz": None,
        "hum_dbfs": None,
        "dc_offset": 0.0,
        "dropouts": (),
        "silent_channel": None,
        "correlation": None,
        "codec_hints": (),
        "content": "speech",
        "speakers": SpeakerFacts(several=False, confidence=0.9),
        "waveform": Waveform(peaks=(), short_term_lufs=(), step_s=0.1),
    }
    return VoiceFacts(**{**fields, **other})
