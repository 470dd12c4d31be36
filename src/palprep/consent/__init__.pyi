from .facts import (
    ConsentFacts as ConsentFacts,
    HeardInstead as HeardInstead,
    NamePlace as NamePlace,
    NegatedWording as NegatedWording,
    PartReading as PartReading,
    RequiredWord as RequiredWord,
    SecondHearing as SecondHearing,
    StatementReading as StatementReading,
    Surroundings as Surroundings,
    WordRecord as WordRecord,
)
from .listeners import Listeners as Listeners
from .model_folder import require_model as require_model
from .names import SAME_SOUND as SAME_SOUND
from .opening import (
    OPENING_S as OPENING_S,
    Opening as Opening,
    decode_opening as decode_opening,
    model_for as model_for,
    read_opening as read_opening,
    read_samples as read_samples,
)
from .statement import Statement as Statement, statement_for as statement_for
from .statements import (
    PLACEHOLDER as PLACEHOLDER,
    open_statement as open_statement,
    read_statement as read_statement,
    required_statement as required_statement,
)
from .whisper import Whisper as Whisper
from .withdrawal import negates as negates
from .words import split_words as split_words
