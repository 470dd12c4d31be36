"""From a report to the smallest fix: plans as values, one module a medium."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
