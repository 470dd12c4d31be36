"""The evidence of consent as files: a chain of entries that is only ever added to."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
