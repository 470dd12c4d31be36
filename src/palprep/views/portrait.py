"""A checked portrait with its findings drawn in: for notebooks and report pages."""

from __future__ import annotations

from palprep.media.image import probe_and_open
from palprep.media.source import Source
from palprep.rules.plans.image import CROP_ANSWERS, LEVEL_ANSWERS, mend
from palprep.rules.report import Report
from palprep.values import Outcome, Rect
from palprep.views.overlay import Finding, Form, overlay
from palprep.vision.analysis import see
from palprep.vision.models import Models

VIEW_SIDE = 900
"""Longest side of the drawing in pixels."""


def portrait_overlay(
    report: Report, models: Models, *, side: int = VIEW_SIDE, form: Form = "png"
) -> bytes | None:
    """The picture of a report: face, points, head axes, gaze, planned crop, and what failed.

    At most ``side`` pixels long, as PNG or JPEG.
    None for what is no portrait. Raises MediaError when the file can no longer be read.
    """
    if report.facts is None or report.facts.image is None or report.facts.portrait is None:
        return None
    path = report.path
    still, pixels = probe_and_open(Source.of(path), max_side=side)
    sight = see(pixels, models, size=(still.width, still.height))
    failed = [
        Finding(
            Rect(**each.region.to_json()) if each.region else None, f"{each.label}: {each.measured}"
        )
        for each in report.having(Outcome.FAIL)
    ]
    wanting = frozenset(check.id for check in report.having(Outcome.FAIL, Outcome.WARN))
    mending = mend(report.facts.portrait, wanting & (CROP_ANSWERS | LEVEL_ANSWERS))[1]
    crop = mending.crop
    return overlay(
        sight,
        models,
        crop=Rect(x=crop.left, y=crop.top, width=crop.width, height=crop.height) if crop else None,
        level_deg=mending.level_deg,
        failed=failed,
        form=form,
    )
