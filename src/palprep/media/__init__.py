"""Facts about a file: what it is, and what its headers, packets and samples say."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
