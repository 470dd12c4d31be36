"""Whisper's input: the log-mel spectrogram, as its paper and published code define it.

Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision" (2022),
section 2.2: 16 kHz, windows of 25 ms every 10 ms, 80 or 128 mel channels on Slaney's
scale, base-10 logarithm limited to 8 below its largest value, then scaled by (x + 4) / 4.
"""

from __future__ import annotations

import numpy as np

from palprep.speech.arrays import RATE_HZ, Floats

WINDOW_S = 30.0
FRAME_S = 0.01
_FFT = 400
_HOP = 160
_LINEAR_HZ = 200.0 / 3
"""Slaney's scale: linear below 1 kHz, 66.7 Hz to a mel, logarithmic above it."""
_LOG_FROM_HZ = 1000.0
_LOG_FROM_MEL = _LOG_FROM_HZ / _LINEAR_HZ
_LOG_STEP = np.log(6.4) / 27.0


def filterbank(channels: int) -> Floats:
    """Triangular filters of equal area, shape ``(channels, 201)``, from 0 to 8 kHz."""
    top_mel = _LOG_FROM_MEL + np.log(RATE_HZ / 2 / _LOG_FROM_HZ) / _LOG_STEP
    mels = np.linspace(0.0, top_mel, channels + 2)
    above = _LOG_FROM_HZ * np.exp(_LOG_STEP * (mels - _LOG_FROM_MEL))
    edges = np.where(mels < _LOG_FROM_MEL, _LINEAR_HZ * mels, above)
    bins = np.linspace(0.0, RATE_HZ / 2, _FFT // 2 + 1)
    width = np.diff(edges)
    slope = edges[:, None] - bins[None, :]
    rising = -slope[:-2] / width[:-1, None]
    falling = slope[2:] / width[1:, None]
    area = 2.0 / (edges[2:] - edges[:-2])
    return (np.clip(np.minimum(rising, falling), 0.0, None) * area[:, None]).astype(np.float32)


def log_mel(samples: Floats, filters: Floats) -> Floats:
    """Features of up to 30 s of mono sound at 16 kHz, shape ``(channels, 3000)``.

    Shorter sound is padded with silence, longer sound is cut.
    """
    length = int(RATE_HZ * WINDOW_S)
    cut = samples[:length]
    padded = np.pad(np.pad(cut, (0, length - len(cut))), _FFT // 2, mode="reflect")
    window = np.hanning(_FFT + 1)[:-1].astype(np.float32)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[::_HOP][:-1]
    power = np.abs(np.fft.rfft(frames * window, axis=1)) ** 2
    logs = np.log10(np.maximum(filters @ power.T, 1e-10))
    scaled: Floats = ((np.maximum(logs, logs.max() - 8.0) + 4.0) / 4.0).astype(np.float32)
    return scaled
