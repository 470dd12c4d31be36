from .words import (
    Ask as Ask,
    asks as asks,
    blocker_words as blocker_words,
    counted as counted,
    measure_words as measure_words,
    some_of as some_of,
    stamp as stamp,
)
