"""Facts about a spoken consent statement: what must be said, and what was heard."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
