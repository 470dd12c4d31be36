"""Documents, pronunciation dictionaries, videos and deployments. They are seeded, then read; the
clock changes documents, and JSON Patch (RFC 6902) deployments."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Sequence
from typing import Any

import jsonpatch
from jsonpatch import JsonPatchException, JsonPatchTestFailed, JsonPointerException

from palprep.api import UNSET, calls, deviations, json_value
from palprep.sandbox.answers import JsonAnswer, refuse_error
from palprep.sandbox.choices import Choices, bad_patch
from palprep.sandbox.outbound import announce
from palprep.sandbox.service import REMOVED_MEMBER, HandlerContext, Service, shown
from palprep.sandbox.store import Record

UNPROCESSED = ("started", "recrawling")
ANNOUNCED = ("document_id", "document_name", "status", "progress", "error_message", "updated_at")
MOST_LOOKS = 32
"""How often a patch may have the largest deployment looked at: about a second of work."""
STEPS = 3  # processing at 0, 50 and 100 percent


def get_dictionary(context: HandlerContext) -> Record:
    dictionary = context.find("dictionary")
    return dictionary | {"rules_count": len(dictionary.get("rules") or ())}


def rename_video(context: HandlerContext) -> Record:
    video = context.find("video") | {"video_name": context.request.video_name}
    context.service.store.put("video", context.request.video_id, video)
    return video


def begin_processing(service: Service, document: Record) -> None:
    """Schedule the first step of an unfinished document, in place of steps scheduled before."""
    for job in service.store.jobs():
        if job.kind == "document" and job.payload["document_id"] == document["document_id"]:
            service.store.finish(job)
    if document.get("status") in UNPROCESSED:
        _schedule(service, document["document_id"], step=0)


async def step_document(service: Service, job: Record) -> None:
    """One step: processing, processing, processing, then ready or error."""
    with service.store.transaction():
        document, step = service.store.get("document", job["document_id"]), job["step"]
        if document is None:
            return
        # A sandbox that was killed may have done the step without removing its job.
        if step == 0 and document["status"] not in UNPROCESSED:
            return
        if step > 0 and document["progress"] != _progress(step - 1):
            return
        document["updated_at"] = service.stamp()
        if step < STEPS:
            document |= {"status": "processing", "progress": _progress(step)}
            _schedule(service, document["document_id"], step=step + 1)
        else:
            document["progress"] = None
            document["status"] = "error" if document.get("error_message") else "ready"
            if document["status"] == "ready" and document.get("crawl_config") is not None:
                crawled = document.get("crawled_urls") or [document.get("document_url")]
                times = (document.get("crawl_count") or 0) + 1
                document |= {"crawled_urls": crawled, "crawl_count": times}
                document["last_crawled_at"] = document["updated_at"]
        service.store.put("document", document["document_id"], document)
        public = show_document(document)
        announce(
            service,
            "document",
            document.get("callback_url"),
            {name: public[name] for name in ANNOUNCED if name in public},
        )


def _progress(step: int) -> float:
    return 100.0 * step / (STEPS - 1)


def _schedule(service: Service, document_id: str, *, step: int) -> None:
    due = service.now() + service.choices.document_step_seconds
    service.store.schedule(due, "document", {"document_id": document_id, "step": step})


def show_document(document: Record) -> Record:
    """The record as the interface shows it: an error message only with status ``error``, members
    about crawling only on crawled websites, and crawled URLs only after processing."""
    hidden: set[str] = set()
    if document.get("crawl_config") is None:
        hidden |= {"crawl_config", "crawled_urls"}
    elif document.get("status") in {"started", "processing"}:
        hidden.add("crawled_urls")
    return shown(document, hidden)


def etag(deployment: Record) -> str:
    content = json.dumps(deployment, sort_keys=True).encode()
    return f'"{hashlib.sha256(content).hexdigest()[:16]}"'


def patch_deployment(context: HandlerContext) -> JsonAnswer:
    """Apply a JSON Patch as a whole or not at all, under If-Match when it is sent."""
    deployment, choices = context.find("deployment"), context.service.choices
    wanted = context.request.if_match
    # RFC 9110, section 13.1.1: any of the listed tags, or *; weak tags never match.
    if wanted is not UNSET and not {"*", etag(deployment)} & {t.strip() for t in wanted.split(",")}:
        raise refuse_error(
            choices.etag_mismatch_status, "The deployment has changed since its ETag was read."
        )
    patched = _patched(choices, deployment, context.request.operations)
    _require_deployment(choices, deployment, patched)
    # The specification calls times of deployments UTC, so they carry a Z.
    patched["updated_at"] = context.service.stamp() + "Z"
    context.service.store.put("deployment", deployment["deployment_id"], patched)
    return show_deployment(patched)


def show_deployment(deployment: Record) -> JsonAnswer:
    # Versioning 3: the field is removed, even from records seeded with it.
    shown = {k: v for k, v in deployment.items() if k != REMOVED_MEMBER}
    return JsonAnswer(body=shown, headers={"ETag": etag(deployment)})


def _require_deployment(choices: Choices, before: Record, after: Any) -> None:
    """Refuse a patch that changed a member that is not patchable, removed one, or gave one another
    type."""
    if not isinstance(after, dict):
        raise bad_patch(choices, "the whole cannot be patched")
    for member in before.keys() | after.keys():
        if before.get(member) is not None and after.get(member) is None:
            raise bad_patch(choices, f"{member} cannot be removed")
        kept = (
            json.dumps(each[member], sort_keys=True) if member in each else None
            for each in (before, after)
        )
        if member not in choices.patchable and len({*kept}) > 1:
            raise bad_patch(choices, f"{member} cannot be patched")
    for problem in deviations(calls.get_deployment.reply, after, closed=False):
        raise bad_patch(choices, f"{problem.field} {problem.message}")


def _patched(choices: Choices, document: Record, operations: Sequence[Record]) -> Any:
    """The patched copy of ``document``, by operations that are well formed. Few bytes of copies
    could double it again and again, so it may not grow beyond the largest body. It is looked at
    after each operation that may make it larger or deeper, and not without end."""
    patched, looked = copy.deepcopy(document), 0
    most = max(choices.json_body_bytes, len(json.dumps(document)))  # A seed may be larger.
    for number, operation in enumerate(operations):
        try:
            patched = jsonpatch.apply_patch(patched, [copy.deepcopy(operation)], in_place=True)
            if operation["op"] in {"remove", "test"}:
                continue
            whole = json.dumps(patched)
            json_value(whole.encode())
            looked += len(whole)
        except JsonPatchTestFailed:
            raise bad_patch(
                choices, f"operation {number}: the test of {operation['path']} failed"
            ) from None
        except (JsonPatchException, JsonPointerException) as error:
            raise bad_patch(choices, f"operation {number}: {error}") from None
        except (RecursionError, ValueError):
            raise bad_patch(choices, f"operation {number}: it would be nested too deeply") from None
        if len(whole) > most:
            too_large = f"the deployment would have more than {most:,} bytes"
            raise bad_patch(choices, f"operation {number}: {too_large}")
        if looked > MOST_LOOKS * most:
            raise bad_patch(
                choices, f"operation {number}: send it and the next ones as a new patch"
            )
    return patched
