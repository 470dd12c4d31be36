"""What a terminal shows: reports, consent, and how far a run has come."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
