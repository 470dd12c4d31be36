from .bodies import (
    MASK as MASK,
    Base64Stream as Base64Stream,
    StreamedBody as StreamedBody,
    json_value as json_value,
    mask_links as mask_links,
    mended_json as mended_json,
    read_body as read_body,
    redact as redact,
)
from .call import (
    Call as Call,
    Endpoint as Endpoint,
    PlainOptions as PlainOptions,
    Rate as Rate,
    Verb as Verb,
    plain_call as plain_call,
    sendable as sendable,
)
from .failures import Given as Given, problems_in as problems_in, request_id as request_id
from .reply import Reply as Reply, Unspecified as Unspecified, deviations as deviations
from .request import UNSET as UNSET, Unset as Unset
