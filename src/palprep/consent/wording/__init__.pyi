from .statement import (
    PLACEHOLDER as PLACEHOLDER,
    VALID_S as VALID_S,
    AskedCode as AskedCode,
    Choose as Choose,
    CodeReading as CodeReading,
    FreshCode as FreshCode,
    Statement as Statement,
    draw_code as draw_code,
    open_statement as open_statement,
    read_statement as read_statement,
    required_statement as required_statement,
    statement_for as statement_for,
)
from .words import (
    LIKE_SOUND as LIKE_SOUND,
    NEAR_SOUND as NEAR_SOUND,
    Word as Word,
    beyond_latin as beyond_latin,
    keys_of as keys_of,
    negates as negates,
    similarity as similarity,
    split_words as split_words,
)
