"""Pages on loopback: one person is recorded, and the questions of a run are answered."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
