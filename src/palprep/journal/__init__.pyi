from .inbox import (
    callback_server as callback_server,
    into_journal as into_journal,
    secret_path as secret_path,
)
from .people import (
    agree as agree,
    asked_code as asked_code,
    find_person as find_person,
    give_code as give_code,
    has_agreed as has_agreed,
    nobody as nobody,
    note_code as note_code,
    people_named as people_named,
)
from .store import JOURNAL_NAME as JOURNAL_NAME, Journal as Journal
