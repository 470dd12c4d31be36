"""Creations, at most once each: their states, and how one is begun and resolved."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
