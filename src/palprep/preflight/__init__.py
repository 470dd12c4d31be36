"""The media loop: measure, judge, fix, and prove. No HTTP."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
