from .facts import (
    AFTERWARDS_S as AFTERWARDS_S,
    LEAST_TO_SYNC_S as LEAST_TO_SYNC_S,
    OPENING_S as OPENING_S,
    AlignedWord as AlignedWord,
    ConsentFacts as ConsentFacts,
    HeardInstead as HeardInstead,
    LipsFacts as LipsFacts,
    Listening as Listening,
    NameReading as NameReading,
    PartReading as PartReading,
    StatementReading as StatementReading,
    Surroundings as Surroundings,
    WordRecord as WordRecord,
)
from .lips import (
    FRAMES_PER_S as FRAMES_PER_S,
    measure_lips as measure_lips,
    stretch_of as stretch_of,
)
from .model_folder import require_model as require_model
from .opening import (
    as_played as as_played,
    decode_opening as decode_opening,
    model_for as model_for,
    opening_length_s as opening_length_s,
    read_samples as read_samples,
)
from .whisper import Whisper as Whisper
