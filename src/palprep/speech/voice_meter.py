"""Everything that is measured of a voice recording, in one pass over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import av
import numpy as np

from palprep import media
from palprep.media import sound, sources
from palprep.speech.activity import Activity
from palprep.speech.arrays import RATE_HZ, Floats, mix_down
from palprep.speech.facts import VoiceFacts
from palprep.speech.loudness import LoudnessMeter, TruePeakMeter
from palprep.speech.spectrum import Bandwidth, Hum, PauseMeter, SpectrumMeter, ToneMeter
from palprep.speech.voiceprint import UNTOLD, SpeakerMeter, Voiceprint
from palprep.speech.waveform import (
    DefectMeter,
    Envelope,
    EnvelopeMeter,
    dropouts,
    noise_facts,
    reverberation_s,
)
from palprep.values import spans_within

_SILENT_DBFS = -60.0
_SILENT_CHANNEL_DB = 40.0
_SPEECH_RATIO = 0.05
_TONAL_DB = -27.0
"""The most spectral flatness of music. Machines that whine reach -22 and distant talk -25. Dense
music, with drums, is flatter and is called noise: what matters is that no one speaks."""
_SHARE_DB = 6.0
"""Hum with a quarter of the noise's power is what is heard of it: six of its lines are counted, and
it has more."""
_WIDE_HZ = 15_000
"""An edge above this is every encoder's, and not heard in speech."""
_EARLIER_RATES = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000)
_AT_ONCE_S = 8.0


def measure_voice(
    source: sources.Source,
    *,
    tell_speakers: bool = True,
    most_s: float | None = None,
    stated_s: float | None = None,
    beside: Sequence[sound.Sink] = (),
) -> tuple[media.AudioFacts, VoiceFacts]:
    """Measure a recording, or the sound of a video: its plain levels, and the voice in it.

    The sound is decoded once, also for the sinks ``beside``. ``most_s`` and ``stated_s`` are as for
    :func:`~palprep.media.sound.probe_audio`. About 60 MiB are kept of an hour. Raises MediaError
    for what cannot be read and ToolMissing without the voice activity network.
    """
    meters: list[VoiceMeter] = []

    def sinks(stream: media.AudioStreamFacts) -> Sequence[sound.Sink]:
        rate_hz, channels = stream.sample_rate_hz, min(stream.channels, 2)
        exceeds = stream.exceeds
        meters.append(VoiceMeter(rate_hz, channels, exceeds=exceeds, tell_speakers=tell_speakers))
        return (sound.Sink(meters[0].push, rate_hz, channels), *beside)

    audio = sound.probe_audio(source, sinks=sinks, most_s=most_s, stated_s=stated_s)
    voice = meters[0].facts()
    return audio.model_copy(update={"levels": meters[0].levels()}), voice


class VoiceMeter:
    """All meters together, of a stream at its own rate. What has more than two channels is heard in
    stereo. Push blocks, then ask.
    """

    def __init__(
        self, rate_hz: int, channels: int, *, exceeds: bool = False, tell_speakers: bool = True
    ) -> None:
        """In sound that ``exceeds`` full scale without being clipped, only flat tops are clipped.
        Without ``tell_speakers`` it stays unknown whether several people speak."""
        self._rate = rate_hz
        self._channels = channels
        self._samples = 0
        self._waiting: list[Floats] = []
        self._loudness = LoudnessMeter(rate_hz, channels)
        self._peak = TruePeakMeter(channels)
        self._defects = DefectMeter(channels, exceeds=exceeds)
        self._envelope = EnvelopeMeter(rate_hz, channels)
        self._spectrum = SpectrumMeter(rate_hz)
        self._activity = Activity()
        self._tones = ToneMeter()
        self._pauses = PauseMeter()
        self._speakers = SpeakerMeter() if tell_speakers else None
        self._resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE_HZ)

    def push(self, block: Floats) -> None:
        """Blocks of one channel may have the shape ``(samples,)``."""
        block = block.reshape(self._channels, -1)
        if block.shape[1]:
            self._waiting.append(block)
        if sum(part.shape[1] for part in self._waiting) >= _AT_ONCE_S * self._rate:
            self._take()

    def _take(self) -> None:
        """Measure what waits: several seconds at once, since every call has its price."""
        if not self._waiting:
            return
        block: Floats = np.concatenate(self._waiting, axis=1)
        self._waiting = []
        self._samples += block.shape[1]
        for meter in (self._loudness, self._peak, self._defects):
            meter.push(block)
        self._envelope.push(block)
        mono = mix_down(block)
        frame = av.AudioFrame.from_ndarray(mono[None, :], format="flt", layout="mono")
        frame.sample_rate = self._rate
        parts = [part.to_ndarray()[0] for part in self._resampler.resample(frame)]
        self._hear(np.concatenate([np.zeros(0, np.float32), *parts]))
        self._spectrum.push(mono, self._activity)

    def _hear(self, mono: Floats) -> None:
        self._tones.push(mono)
        for run in self._activity.push(mono):
            if self._speakers:
                self._speakers.push(run)
        self._pauses.push(mono, self._activity)

    def levels(self) -> media.AudioLevels:
        self._take()
        peak_dbfs = sound.decibels(self._peak.sample_peak)
        return media.AudioLevels(peak_dbfs=peak_dbfs, rms_dbfs=self._defects.rms_dbfs())

    def facts(self) -> VoiceFacts:
        """What was heard. To be asked once, when everything was pushed."""
        self._take()
        for frame in self._resampler.resample(None):
            self._hear(frame.to_ndarray()[0])
        duration = self._samples / self._rate
        # Resampling rounds the length up by a sample.
        speech = spans_within(self._activity.spans(), 0.0, duration)
        spoken = sum(span.duration_s for span in speech)
        envelope = self._envelope.envelope()
        coarse = self._defects.coarse
        noise = noise_facts(envelope, speech, coarse=coarse)
        sounds = len(envelope.power) and envelope.power.max() > 1e-9
        band = self._spectrum.bandwidth() if sounds else None
        hum = self._tones.hum()
        levels = self._defects.channel_levels_dbfs()
        ratio = spoken / duration if duration else 0.0
        return VoiceFacts(
            duration_s=duration,
            channels=self._channels,
            speech=speech,
            speech_s=spoken,
            integrated_lufs=self._loudness.integrated_lufs(),
            true_peak_dbtp=self._peak.peak_dbtp(),
            clipped_runs=self._defects.clipped_runs(),
            bandwidth_hz=band.hz if band else None,
            hum_hz=hum.hz if hum else None,
            hum_dbfs=hum.dbfs if hum else None,
            background=_background(hum, noise.noise_floor_dbfs, tones=self._pauses.tones()),
            reverberation_s=reverberation_s(envelope) if speech else None,
            dc_offset=self._defects.dc_offset(),
            dropouts=None if coarse else dropouts(envelope),
            silent_channel=_silent_channel(levels),
            correlation=self._defects.correlation(),
            codec_hints=codec_hints(band, self._rate),
            content=_content(envelope, ratio, self._tones.flatness_db),
            **noise._asdict(),
            speakers=(self._speakers.facts(Voiceprint().embed_each) if self._speakers else UNTOLD),
            waveform=self._loudness.waveform(envelope.peak),
        )


def codec_hints(band: Bandwidth | None, rate_hz: int) -> tuple[str, ...]:
    if band is None or not band.cliff or band.hz > min(0.44 * rate_hz, _WIDE_HZ):
        return ()
    edge = f"nothing above {band.hz / 1000:.1f} kHz"
    for earlier in _EARLIER_RATES:
        if earlier < rate_hz and 0.43 * earlier <= band.hz <= 0.51 * earlier:
            return (f"{edge}: recorded at {earlier} Hz, or encoded so",)
    return (f"{edge}: a sharp edge, as lossy encoding leaves it",)


def _background(
    hum: Hum | None, floor_dbfs: float | None, *, tones: bool
) -> Literal["hum", "music", "noise"]:
    if hum and floor_dbfs is not None:
        level = hum.dbfs if tones else hum.voiced_dbfs
        if level > floor_dbfs - _SHARE_DB:
            return "hum"
    return "music" if tones else "noise"


def _silent_channel(levels: Sequence[float]) -> int | None:
    if len(levels) < 2:
        return None
    quiet = min(range(len(levels)), key=levels.__getitem__)
    loud = max(levels)
    silent = loud - levels[quiet] >= _SILENT_CHANNEL_DB or levels[quiet] <= media.FLOOR_DBFS
    return quiet if silent and loud > _SILENT_DBFS else None


def _content(
    envelope: Envelope, ratio: float, flatness: Sequence[float]
) -> Literal["speech", "music", "noise", "silence"]:
    if not len(envelope.power) or 10 * np.log10(envelope.power.max() + 1e-20) < _SILENT_DBFS:
        return "silence"
    if ratio >= _SPEECH_RATIO:
        return "speech"
    return "music" if flatness and float(np.median(flatness)) < _TONAL_DB else "noise"
