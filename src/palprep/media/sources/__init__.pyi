from .sniff import HEAD_BYTES as HEAD_BYTES, recognise_head as recognise_head
from .source import (
    MOST_BYTES as MOST_BYTES,
    Source as Source,
    at_its_end as at_its_end,
    is_file as is_file,
    name_of as name_of,
    no_file as no_file,
    position_of as position_of,
    read_binary as read_binary,
    sha256_of as sha256_of,
    type_of as type_of,
)
