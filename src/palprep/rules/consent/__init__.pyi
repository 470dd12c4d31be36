from .checks import (
    CONSENT_CHECKS as CONSENT_CHECKS,
    CONSENT_DOUBTS as CONSENT_DOUBTS,
    consent_doubts as consent_doubts,
    consent_failures as consent_failures,
    consent_spoken as consent_spoken,
    lacks_consent as lacks_consent,
    likeness_doubts as likeness_doubts,
    never_asked as never_asked,
)
from .grading import code_doubts as code_doubts, grade_statement as grade_statement
from .state import (
    ConsentDecision as ConsentDecision,
    ConsentDoubt as ConsentDoubt,
    ConsentEvidence as ConsentEvidence,
    ConsentFile as ConsentFile,
    ConsentState as ConsentState,
    consent_state as consent_state,
)
