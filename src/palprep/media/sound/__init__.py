"""Decoded sound: samples for whoever listens, and what a signal looks like."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
