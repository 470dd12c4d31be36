"""Objects in the buckets of Amazon S3, Google Cloud Storage and Azure Blob Storage."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
