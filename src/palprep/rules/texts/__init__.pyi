from .words import (
    Ask as Ask,
    asks as asks,
    blocker_words as blocker_words,
    counted as counted,
    some_of as some_of,
    stamp as stamp,
)
