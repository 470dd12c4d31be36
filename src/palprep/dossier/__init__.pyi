from .chain import REPLACED as REPLACED, Dossier as Dossier, Entry as Entry, Flaw as Flaw
from .files import (
    DOSSIER_SUFFIX as DOSSIER_SUFFIX,
    ExaminedDossier as ExaminedDossier,
    add_end as add_end,
    add_entry as add_entry,
    dossier_path as dossier_path,
    examine_dossier as examine_dossier,
    keep_dossier as keep_dossier,
    put_back as put_back,
    read_dossier as read_dossier,
    sole_writer as sole_writer,
)
