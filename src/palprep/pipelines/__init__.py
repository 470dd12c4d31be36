"""The way from prepared files to a validated face, a voice and a replica."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
