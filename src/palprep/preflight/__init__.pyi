from .comparison import pick_best as pick_best, same_person as same_person
from .preflight import (
    at_one_file as at_one_file,
    check as check,
    kinds_by as kinds_by,
    media_workers as media_workers,
    no_parts_left as no_parts_left,
    prepare as prepare,
    run_in as run_in,
    verify_consent as verify_consent,
    verify_wording as verify_wording,
)
from .values import (
    Asset as Asset,
    Candidate as Candidate,
    Prepared as Prepared,
    Ranking as Ranking,
    role_of as role_of,
)
