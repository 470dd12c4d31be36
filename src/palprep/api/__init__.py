"""The service's HTTP contract as declarations. No input or output happens here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
