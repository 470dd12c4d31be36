from .checks import (
    CONSENT_CHECKS as CONSENT_CHECKS,
    CONSENT_DOUBTS as CONSENT_DOUBTS,
    consent_doubts as consent_doubts,
    consent_failures as consent_failures,
    consent_not_taken_back as consent_not_taken_back,
    consent_spoken as consent_spoken,
    files_doubts as files_doubts,
    lacks_consent as lacks_consent,
    never_asked as never_asked,
    not_taken_back as not_taken_back,
)
from .grading import code_doubts as code_doubts, grade_statement as grade_statement
from .remarks import taken_back as taken_back
from .state import (
    ConsentDecision as ConsentDecision,
    ConsentDoubt as ConsentDoubt,
    ConsentEvidence as ConsentEvidence,
    ConsentFile as ConsentFile,
    ConsentState as ConsentState,
    consent_state as consent_state,
)
