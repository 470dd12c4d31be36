"""Judgement of consent: what was said, what speaks against it, and what a decision changes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
