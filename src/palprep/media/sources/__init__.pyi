from .source import (
    MOST_BYTES as MOST_BYTES,
    Source as Source,
    is_file as is_file,
    name_of as name_of,
    no_file as no_file,
    read_binary as read_binary,
    sha256_of as sha256_of,
    type_of as type_of,
)
