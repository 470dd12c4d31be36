"""A sample portrait and what is seen in it."""

from __future__ import annotations

from seen_portrait import models, picture, portrait, sight

__all__ = ["models", "picture", "portrait", "sight"]
