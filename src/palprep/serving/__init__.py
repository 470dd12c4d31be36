"""An ASGI application on a socket of its own, in a thread."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
