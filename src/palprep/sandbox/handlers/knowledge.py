"""What is seeded and then read or renamed: documents, pronunciation dictionaries, videos."""

from __future__ import annotations

from palprep.sandbox.answers import Answer, refuse_error, refuse_message
from palprep.sandbox.call import Call
from palprep.sandbox.documents import show_document


def get_document(call: Call) -> Answer:
    """The document as it stands by the clock."""
    document = call.service.store.get("document", call.request.document_id)
    if document is None:
        raise refuse_message(call.service.choices.not_found_status, "Document not found.")
    return Answer(body=show_document(document))


def get_dictionary(call: Call) -> Answer:
    """The dictionary with all its rules and their number."""
    dictionary = call.service.store.get("dictionary", call.request.dictionary_id)
    if dictionary is None:
        raise refuse_message(
            call.service.choices.not_found_status, "Pronunciation dictionary not found."
        )
    return Answer(body=dictionary | {"rules_count": len(dictionary.get("rules") or ())})


def rename_video(call: Call) -> Answer:
    """Give a video another name."""
    video = call.service.store.get("video", call.request.video_id)
    if video is None:
        raise refuse_error(call.service.choices.invalid_id_status, "Invalid video_id.")
    video |= {"video_name": call.request.video_name}
    call.service.store.put("video", call.request.video_id, video)
    return Answer(body=video)
