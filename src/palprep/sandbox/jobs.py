"""Which job does what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from palprep.sandbox.conversations import conversation_timed_out
from palprep.sandbox.documents import step_document
from palprep.sandbox.service import Service
from palprep.sandbox.store import Job, Record
from palprep.sandbox.tool_calls import run_post_call_tool
from palprep.sandbox.training import train_replica, train_voice


async def _deliver_callback(service: Service, job: Record) -> None:
    await service.outbox.deliver(job)


JOBS: Mapping[str, Callable[[Service, Record], Awaitable[None]]] = {
    "voice": train_voice,
    "replica": train_replica,
    "document": step_document,
    "conversation": conversation_timed_out,
    "tool": run_post_call_tool,
    "callback": _deliver_callback,
}


async def perform(service: Service, job: Job) -> None:
    """Do one job. Whatever it raises goes to the scheduler, which drops the job."""
    await JOBS[job.kind](service, job.payload)
