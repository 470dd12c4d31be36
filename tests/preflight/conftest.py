"""A sample portrait and what is seen in it, and a spoken consent."""

from __future__ import annotations

from seen_portrait import models, picture, portrait, sight
from spoken import speech, spoken_consent

__all__ = ["models", "picture", "portrait", "sight", "speech", "spoken_consent"]
