"""Files that are private and whole; objects in the buckets of S3, Google Cloud and Azure."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
