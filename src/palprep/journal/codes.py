"""Fresh codes in the journal: which were given out for a name, and which file spoke one when."""

from __future__ import annotations

import secrets

from palprep.consent import VALID_S, Choose, FreshCode, draw_code
from palprep.errors import UsageError
from palprep.journal.entries import CodeGiven
from palprep.journal.forgetting import name_key
from palprep.journal.store import Journal


def give_code(
    journal: Journal, full_name: str, *, valid_s: float = VALID_S, choose: Choose = secrets.choice
) -> FreshCode:
    """Draw a fresh code for whoever has this name, and note it with the time of the journal.

    It is to be spoken after the statement, within ``valid_s`` seconds. Raises UsageError for a name
    without letters and for somebody who was forgotten, JournalError where it cannot be noted.
    """
    name = " ".join(full_name.split())
    if not any(each.isalpha() for each in name):
        raise UsageError("A code is given to a person: give the full name")
    if journal.forgotten("name", (name.casefold(),)):
        raise UsageError(
            f"{name} was forgotten, and nothing is recorded for them: `palprep forget DIR FOLDER "
            "--again` takes the person in again"
        )
    code = draw_code(journal.now(), choose, valid_s=valid_s)
    journal.append(CodeGiven(full_name=name, code=code), key=name_key(name))
    return code
