from .at_most_once import (
    asked_before as asked_before,
    create_once as create_once,
    resolve as resolve,
    resolve_ended as resolve_ended,
    resolve_found as resolve_found,
    resolve_retry as resolve_retry,
)
from .states import (
    CUT_OFF as CUT_OFF,
    Creation as Creation,
    CreationState as CreationState,
    creation_key as creation_key,
    doubt_words as doubt_words,
    up_to_date as up_to_date,
)
