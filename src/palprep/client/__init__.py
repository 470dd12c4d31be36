"""The service's clients, sync and async, from the declarations in palprep.api."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
