"""The way from prepared files to a validated face, a voice and a replica.

make       validate_face, make_voice, make_replica
consent    the gate: whether a replica may be made of a video; the evidence that is kept
creation   what may be asked for; publish, create at most once, wait
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
