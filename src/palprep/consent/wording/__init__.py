"""The words of a statement: what must be said, how it sounds, and what sounds like it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
