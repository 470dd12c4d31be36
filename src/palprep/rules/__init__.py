"""Judgement: pure functions from facts to a report, and from a report to a plan."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
