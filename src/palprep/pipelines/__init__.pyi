from .consent import (
    ConsentGate as ConsentGate,
    add_to_dossier as add_to_dossier,
    consent_evidence as consent_evidence,
    decide as decide,
    journal_above as journal_above,
    keep_in_journal as keep_in_journal,
    named as named,
    restore_dossier as restore_dossier,
    stopped_at as stopped_at,
)
from .creation import (
    Callbacks as Callbacks,
    Creator as Creator,
    ReplicaRequest as ReplicaRequest,
    Request as Request,
    VoiceRequest as VoiceRequest,
    key_of as key_of,
    told_by as told_by,
)
from .make import (
    ValidatedModel as ValidatedModel,
    ask_state as ask_state,
    create as create,
    make_replica as make_replica,
    make_voice as make_voice,
    validate_face as validate_face,
)
