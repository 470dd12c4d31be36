"""Facts about what an image or a frame shows: faces, pose, framing, quality, identity."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
