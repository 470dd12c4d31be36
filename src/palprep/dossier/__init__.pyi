from .chain import Dossier as Dossier, Entry as Entry, Flaw as Flaw
from .files import (
    ExaminedDossier as ExaminedDossier,
    FileState as FileState,
    dossier_path as dossier_path,
    examine_dossier as examine_dossier,
    expire as expire,
    keep_dossier as keep_dossier,
    read_dossier as read_dossier,
    revoke as revoke,
    waive as waive,
)
