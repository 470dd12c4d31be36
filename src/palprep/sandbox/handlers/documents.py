"""Documents, pronunciation dictionaries, videos: seeded, then read or renamed.

A document walks through its states by the clock.
"""

from __future__ import annotations

from palprep.api import EventName
from palprep.sandbox.outbound import announce
from palprep.sandbox.service import HandlerContext, Service, shown
from palprep.sandbox.store import Record

WALKING = ("started", "recrawling")
TOLD = ("document_id", "document_name", "status", "progress", "error_message", "updated_at")
STEPS = 3  # processing at 0, 50 and 100 percent


def get_document(context: HandlerContext) -> Record:
    """The document as it stands by the clock."""
    return show_document(context.find("document"))


def get_dictionary(context: HandlerContext) -> Record:
    """The dictionary with all its rules and their number."""
    dictionary = context.find("dictionary")
    return dictionary | {"rules_count": len(dictionary.get("rules") or ())}


def rename_video(context: HandlerContext) -> Record:
    """Give a video another name."""
    video = context.find("video") | {"video_name": context.request.video_name}
    context.service.store.put("video", context.request.video_id, video)
    return video


def begin_walk(service: Service, document: Record) -> None:
    """Schedule the first step of a document that is seeded unfinished, in place of any walk
    that it is on."""
    for job in service.store.jobs():
        if job.kind == "document" and job.payload["document_id"] == document["document_id"]:
            service.store.finish(job)
    if document.get("status") in WALKING:
        _schedule(service, document["document_id"], step=0)


async def step_document(service: Service, job: Record) -> None:
    """One step: processing, processing, processing, then ready or error."""
    with service.store.transaction():
        document = service.store.get("document", job["document_id"])
        if document is None:
            return
        step = job["step"]
        document["updated_at"] = service.stamp()
        if step < STEPS:
            document |= {"status": "processing", "progress": 100.0 * step / (STEPS - 1)}
            _schedule(service, document["document_id"], step=step + 1)
        else:
            _finish(service, document)
        service.store.put("document", document["document_id"], document)
        public = show_document(document)
        announce(
            service,
            EventName.DOCUMENT_STATUS_CHANGED,
            document.get("callback_url"),
            {name: public[name] for name in TOLD if name in public},
        )


def _schedule(service: Service, document_id: str, *, step: int) -> None:
    due = service.now() + service.choices.document_step_seconds
    service.store.schedule(due, "document", {"document_id": document_id, "step": step})


def _finish(service: Service, document: Record) -> None:
    document["progress"] = None
    document["status"] = "error" if document.get("error_message") else "ready"
    if document["status"] == "ready" and document.get("crawl_config") is not None:
        document["crawled_urls"] = document.get("crawled_urls") or [document.get("document_url")]
        document["crawl_count"] = (document.get("crawl_count") or 0) + 1
        document["last_crawled_at"] = service.stamp()


def show_document(document: Record) -> Record:
    """The record as the interface shows it: an error message only with status ``error``,
    the crawl's own members only on crawled websites, its URLs only after processing."""
    hidden: set[str] = set()
    if document.get("crawl_config") is None:
        hidden |= {"crawl_config", "crawled_urls"}
    elif document.get("status") in {"started", "processing"}:
        hidden.add("crawled_urls")
    return shown(document, hidden)
