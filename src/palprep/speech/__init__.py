"""Facts about a sound: voice activity, loudness and noise, what was said."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
