"""What is drawn of a file: portraits, timelines, waveforms, and where they are kept."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
