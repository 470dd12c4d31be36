"""Apply a plan to a file: the one door to every fix."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from palprep.fixes import graph, image, video, voice
from palprep.fixes.output import Applied, new_output
from palprep.media import VideoFacts
from palprep.media.sources import Source
from palprep.rules.plans import ImagePlan, Plan, VideoPlan, VoicePlan


def apply(
    plan: Plan,
    source: Source,
    target_stem: Path,
    *,
    known: VideoFacts | None = None,
    progress: graph.Progress | None = None,
) -> Applied:
    """Write what ``plan`` makes of ``source`` to ``target_stem`` plus the format's extension.

    The source is only read. Of a video its facts may be ``known``. Another file of that name is
    kept, and the output numbered: see :func:`~palprep.fixes.output.new_output`. ``progress`` gets
    the fraction done, 0 to 1. Raises FixError where a step cannot be made, OutputUnwritable where
    the output cannot be written, MediaError for a source that does not decode, ToolFailed when
    ffmpeg gives up, UsageError when the output would replace the source; none of them leaves an
    output behind.
    """
    # One that has changed since it was measured is refused.
    source.open().close()
    if progress is not None:
        progress(0.0)
    output = partial(new_output, target_stem, source=source.path)
    match plan:
        case ImagePlan():
            applied = image.fix_image(plan, source, output)
        case VideoPlan():
            applied = video.fix_video(plan, source, output, progress, known)
        case VoicePlan():
            applied = voice.fix_voice(plan, source, output, progress)
    if progress is not None:
        progress(1.0)
    return applied
