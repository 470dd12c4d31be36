"""What a rule says, in words that can be translated, and what a person is asked to do again."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
