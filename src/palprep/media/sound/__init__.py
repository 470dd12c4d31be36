"""Sound: what a file has of it, and its decoded samples for whoever listens."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
