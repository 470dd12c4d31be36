"""The page of a run: one HTML file that needs nothing else, made from the journal's view."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from palprep.journal.run_view import PersonView, RunView
from palprep.preflight.asset import Asset
from palprep.rules.report import Check, Report
from palprep.values import Outcome, Role
from palprep.views.embedded import Embedded, inline
from palprep.views.html import environment
from palprep.views.listening import link_to_statement
from palprep.views.outcomes import OUTCOMES, STATUSES
from palprep.views.pictures import report_timeline, thumbnail

Thumbnail = Callable[[Path], Embedded]
"""A small picture of an image or a video. Raises PalprepError where there is none."""

Timeline = Callable[[Report], Embedded | None]
"""The timeline of a video, None for anything else. Raises PalprepError."""

ROLE_TITLES: dict[Role, str] = {
    Role.FACE_IMAGE: "Portrait",
    Role.TRAINING_VIDEO: "Training video",
    Role.CONSENT_VIDEO: "Consent video",
    Role.VOICE_AUDIO: "Voice recording",
}

_PICTURED = (Role.FACE_IMAGE, Role.TRAINING_VIDEO, Role.CONSENT_VIDEO)


def page(
    run: RunView,
    *,
    folder: Path | None = None,
    thumbnail: Thumbnail = thumbnail,
    timeline: Timeline = report_timeline,
) -> str:
    """The whole page. Every value is escaped; pictures are inline.

    ``folder`` is where the page will lie. It links to the statements of consent in the files
    that lie there too, which a browser reads when somebody plays them. Nothing else is fetched.
    """
    counts = Counter[str](person.status for person in run.people)
    # A person's first picture stands next to the name as well.
    small = functools.cache(thumbnail)
    template = environment().get_template("report.html.j2")
    return template.render(
        run=run,
        counts=[(status, counts[status]) for status in STATUSES if counts[status]],
        role_titles=ROLE_TITLES,
        picture=lambda asset: _picture(asset, small),
        timeline=lambda asset: inline(lambda: timeline(asset.report)),
        portrait=lambda person: _portrait(person, small),
        listen=lambda asset: _listen(asset, folder),
        initials=initials,
        by_outcome=by_outcome,
    )


def initials(name: str) -> str:
    """At most two letters for a person without a picture."""
    words = [word for word in name.split() if word[:1].isalnum()]
    return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper() or "?"


def by_outcome(report: Report) -> list[tuple[Outcome, tuple[Check, ...]]]:
    """The checks of each outcome that occurs, the worst outcome first."""
    groups = ((outcome, report.having(outcome)) for outcome in OUTCOMES)
    return [(outcome, checks) for outcome, checks in groups if checks]


def _listen(asset: Asset, folder: Path | None) -> str | None:
    if folder is None or asset.prepared is None or asset.consent is None:
        return None
    return link_to_statement(asset.prepared.path, asset.consent, folder)


def _portrait(person: PersonView, thumbnail: Thumbnail) -> str | None:
    by_role = {asset.role: asset for asset in person.assets}
    pictures = (_picture(by_role[role], thumbnail) for role in _PICTURED if role in by_role)
    return next((picture for picture in pictures if picture), None)


def _picture(asset: Asset, thumbnail: Thumbnail) -> str | None:
    if asset.role not in _PICTURED:
        return None
    # What was prepared is what the service sees; without it, the source.
    path = Path(asset.prepared.path if asset.prepared else asset.source)
    return inline(lambda: thumbnail(path))
