from .words import (
    Ask as Ask,
    ask_of as ask_of,
    asks as asks,
    blocker_words as blocker_words,
    counted as counted,
    some_of as some_of,
    stamp as stamp,
)
