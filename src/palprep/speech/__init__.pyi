from .activity import speech_spans as speech_spans
from .arrays import RATE_HZ as RATE_HZ, Mono as Mono, mono_of as mono_of
from .facts import (
    LOWEST_VOICE_HZ as LOWEST_VOICE_HZ,
    TARGET_RMS_DBFS as TARGET_RMS_DBFS,
    SpeakerFacts as SpeakerFacts,
    VoiceFacts as VoiceFacts,
)
from .spectrum import (
    FRAME_S as FRAME_S,
    WINDOW_S as WINDOW_S,
    filterbank as filterbank,
    log_mel as log_mel,
)
from .voice_meter import measure_voice as measure_voice
from .voiceprint import speakers_of as speakers_of, voice_of as voice_of
from .waveform import DefectMeter as DefectMeter
