from .bodies import (
    Base64Stream as Base64Stream,
    StreamedBody as StreamedBody,
    json_value as json_value,
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
from .failures import (
    Given as Given,
    problems_in as problems_in,
    request_id as request_id,
)
from .fields import (
    MAX_IMAGE_BASE64_CHARS as MAX_IMAGE_BASE64_CHARS,
    MAX_IMAGE_BYTES as MAX_IMAGE_BYTES,
    HeaderName as HeaderName,
    HeaderValue as HeaderValue,
    ImageMime as ImageMime,
    ShortLink as ShortLink,
    Tag as Tag,
    VoiceDescription as VoiceDescription,
    host_of as host_of,
    is_address as is_address,
    is_header_value as is_header_value,
    is_https as is_https,
    is_link as is_link,
    is_loopback as is_loopback,
)
from .records import (
    FACE_CHECKS as FACE_CHECKS,
    FACE_PROBLEMS as FACE_PROBLEMS,
    AnyEvent as AnyEvent,
    Document as Document,
    Replica as Replica,
    ReplicaTraining as ReplicaTraining,
    Voice as Voice,
    VoiceStatusChanged as VoiceStatusChanged,
    parse_event as parse_event,
)
from .reply import Reply as Reply, Unspecified as Unspecified, deviations as deviations
from .request import UNSET as UNSET, Unset as Unset
