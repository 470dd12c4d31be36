"""A checked portrait with its findings drawn in: for notebooks and report pages."""

from __future__ import annotations

from palprep.media.sniff import sniff
from palprep.media.still import probe_and_open
from palprep.rules.reframe import CROP_ANSWERS, LEVEL_ANSWERS, mend
from palprep.rules.report import Report
from palprep.rules.roles import Outcome
from palprep.vision.facts import Box
from palprep.vision.look import see
from palprep.vision.models import Models
from palprep.vision.overlay import Finding, Form, overlay

VIEW_SIDE = 900
"""Longest side of the drawing in pixels."""


def annotated(
    report: Report, models: Models, *, side: int = VIEW_SIDE, form: Form = "png"
) -> bytes | None:
    """The picture of a report: face, points, head axes, gaze, planned crop, and what failed.

    At most ``side`` pixels long, as PNG or JPEG.
    None for what is no portrait. Raises MediaError when the file can no longer be read.
    """
    if report.facts is None or report.facts.still is None or report.facts.picture is None:
        return None
    path = report.path
    still, pixels = probe_and_open(path, sniff(path), max_side=side)
    sight = see(pixels, models, size=(still.width, still.height))
    failed = [
        Finding(
            Box(**each.region.to_json()) if each.region else None, f"{each.label}: {each.measured}"
        )
        for each in report.having(Outcome.FAIL)
    ]
    wanting = frozenset(check.id for check in report.having(Outcome.FAIL, Outcome.WARN))
    mending = mend(report.facts.picture, wanting & (CROP_ANSWERS | LEVEL_ANSWERS))[1]
    crop = mending.crop
    return overlay(
        sight,
        models,
        crop=Box(x=crop.left, y=crop.top, width=crop.width, height=crop.height) if crop else None,
        level_deg=mending.level_deg,
        failed=failed,
        form=form,
    )
