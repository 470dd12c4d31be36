"""Everything that is drawn or worded for people: pictures, tables, the page, the notebook."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
