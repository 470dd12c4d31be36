"""What a run has done, entry by entry, so that nothing is created twice.

entries        one class for each kind of entry, and the values in them
file, store    one SQLite file, or memory, with typed entries in and out
projection     what the entries add up to, in tables beside them
creations      the states of a creation, as one table, and how a person's work stands by them
at_most_once   creating, and deciding what is in doubt
forgetting     every row about one person removed
inbox          callbacks into a journal
run_view       the journal read back, person by person
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
