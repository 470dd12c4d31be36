"""What a run has done, entry by entry, so that nothing is created twice."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
