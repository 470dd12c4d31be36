"""Pixels: stills, the frames of videos and what they tell of the signal, light, thumbnails."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
