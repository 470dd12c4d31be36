from .bucket import (
    PROBE as PROBE,
    Bucket as Bucket,
    object_at as object_at,
)
from .clouds import CLOUDS as CLOUDS, is_bucket as is_bucket
from .files import (
    GoOn as GoOn,
    Stored as Stored,
    atomic_output as atomic_output,
    files_below as files_below,
    is_file as is_file,
    is_folder as is_folder,
    is_there as is_there,
    opener as opener,
    output_folder as output_folder,
    private_file as private_file,
    private_folder as private_folder,
    unwritable as unwritable,
    without_secrets as without_secrets,
    write_text as write_text,
)
from .web import (
    UNASKABLE as UNASKABLE,
    fetch_url as fetch_url,
    http_client as http_client,
    look_at_url as look_at_url,
)
