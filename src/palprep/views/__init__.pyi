from .consent_words import standing as standing
from .data_frame import to_pandas as to_pandas
from .dossier_page import export_dossiers as export_dossiers, require_page_name as require_page_name
from .format import duration as duration, size as size
from .guide import (
    agreement as agreement,
    guide_page as guide_page,
    recording_page as recording_page,
    review_page as review_page,
    write_thumbnail as write_thumbnail,
)
from .html import page_asset as page_asset
from .messages import Message as Message, messages as messages
from .notebook import register as register
from .outcomes import STATUSES as STATUSES
from .page import (
    PEOPLE_FOLDER as PEOPLE_FOLDER,
    REPORT_NAME as REPORT_NAME,
    is_page as is_page,
    pages as pages,
    person_page as person_page,
)
