"""What is written into a journal: one frozen class for each kind of entry."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
