"""What is seeded and then read or renamed: documents, pronunciation dictionaries, videos."""

from __future__ import annotations

from palprep.sandbox.answers import JsonAnswer, refuse_error, refuse_message
from palprep.sandbox.documents import show_document
from palprep.sandbox.handler import HandlerContext


def get_document(context: HandlerContext) -> JsonAnswer:
    """The document as it stands by the clock."""
    document = context.service.store.get("document", context.request.document_id)
    if document is None:
        raise refuse_message(context.service.choices.not_found_status, "Document not found.")
    return JsonAnswer(body=show_document(document))


def get_dictionary(context: HandlerContext) -> JsonAnswer:
    """The dictionary with all its rules and their number."""
    dictionary = context.service.store.get("dictionary", context.request.dictionary_id)
    if dictionary is None:
        raise refuse_message(
            context.service.choices.not_found_status, "Pronunciation dictionary not found."
        )
    return JsonAnswer(body=dictionary | {"rules_count": len(dictionary.get("rules") or ())})


def rename_video(context: HandlerContext) -> JsonAnswer:
    """Give a video another name."""
    video = context.service.store.get("video", context.request.video_id)
    if video is None:
        raise refuse_error(context.service.choices.invalid_id_status, "Invalid video_id.")
    video |= {"video_name": context.request.video_name}
    context.service.store.put("video", context.request.video_id, video)
    return JsonAnswer(body=video)
