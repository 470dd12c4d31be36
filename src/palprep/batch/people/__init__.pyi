from .files import kinds_in as kinds_in, promised_kind as promised_kind
from .folder import Shard as Shard, read_person as read_person, shards_in as shards_in
from .manifest_rows import ManifestRow as ManifestRow, why_no_folder_name as why_no_folder_name
from .person import Person as Person
from .selection import Selection as Selection
from .settings import read_settings as read_settings, write_setting as write_setting
