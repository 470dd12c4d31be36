"""Facts written by hand."""

from __future__ import annotations

from built_facts import audio_facts, image_facts, video_facts

__all__ = ["audio_facts", "image_facts", "video_facts"]
