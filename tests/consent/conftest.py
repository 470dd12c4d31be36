"""The spoken consent of a sample person."""

from __future__ import annotations

from spoken import decode, speech, spoken_consent

__all__ = ["decode", "speech", "spoken_consent"]
