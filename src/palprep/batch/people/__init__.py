"""From a folder, a manifest or a bucket to people and the roles of their files."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
