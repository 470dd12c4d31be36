"""Deployments: patched under optimistic concurrency, deleted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from palprep.api import UNSET, calls, deviations
from palprep.sandbox.answers import JsonAnswer, refuse_error
from palprep.sandbox.clock import stamp_utc
from palprep.sandbox.json_patch import BadPatch, apply_patch, changed_members
from palprep.sandbox.service import HandlerContext
from palprep.sandbox.store import Record


def etag(deployment: Record) -> str:
    """A strong ETag of the record's content."""
    content = json.dumps(deployment, sort_keys=True).encode()
    return f'"{hashlib.sha256(content).hexdigest()[:16]}"'


def get_deployment(context: HandlerContext) -> JsonAnswer:
    """The record, with its ETag in the header."""
    return _show(context.find("deployment"))


def patch_deployment(context: HandlerContext) -> JsonAnswer:
    """Apply a JSON Patch as a whole or not at all, under If-Match when it is sent."""
    deployment, choices = context.find("deployment"), context.service.choices
    wanted, operations = context.request.if_match, context.request.operations
    if wanted is not UNSET and not _matches(wanted, etag(deployment)):
        raise refuse_error(
            choices.etag_mismatch_status, "The deployment has changed since its ETag was read."
        )
    try:
        patched = apply_patch(
            deployment,
            operations,
            max_operations=choices.patch_operations,
            max_bytes=choices.deployment_bytes,
        )
        _only(choices.patchable, operations)
        _still_a_deployment(choices.patchable, deployment, patched)
    except BadPatch as error:
        raise refuse_error(
            choices.bad_request_status, f"Invalid JSON patch format: {error}."
        ) from error
    patched["updated_at"] = stamp_utc(context.service.now())
    context.service.store.put("deployment", deployment["deployment_id"], patched)
    return _show(patched)


def _only(patchable: Sequence[str], operations: Sequence[Mapping[str, Any]]) -> None:
    foreign = changed_members(operations) - set(patchable)
    if foreign:
        raise BadPatch(f"{', '.join(sorted(foreign)) or 'the whole'} cannot be patched")


def _still_a_deployment(patchable: Sequence[str], before: Record, after: Record) -> None:
    """A member keeps its type and its values, and is not taken away."""
    for member in patchable:
        if before.get(member) is not None and after.get(member) is None:
            raise BadPatch(f"{member} cannot be removed")
    for problem in deviations(calls.get_deployment.reply, after, closed=False):
        raise BadPatch(f"{problem.field} {problem.message}")


def _matches(header: str, current: str) -> bool:
    """RFC 9110, section 13.1.1: any of the listed tags, or ``*``; weak tags never match."""
    return header.strip() == "*" or current in (tag.strip() for tag in header.split(","))


def _show(deployment: Record) -> JsonAnswer:
    # Versioning 3: the field is removed, even from records seeded with it.
    shown = {k: v for k, v in deployment.items() if k != "replica_thumbnail_video_url"}
    return JsonAnswer(body=shown, headers={"ETag": etag(deployment)})
