"""The page of a run, made from the journal's view: one HTML file, or an index and a page for each
person where there are many."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jinja2

from palprep._version import __version__
from palprep.dossier.files import dossier_path
from palprep.journal.run_view import PersonView, RunView
from palprep.preflight.asset import Asset
from palprep.rules.report import Check, Report
from palprep.values import Outcome, Role
from palprep.views.asset_pictures import PICTURED, pictures_of
from palprep.views.beside import Beside, address
from palprep.views.html import environment
from palprep.views.outcomes import OUTCOMES, WORST_FIRST
from palprep.views.picture_folder import PICTURES_NAME, PictureFolder, Show, drawn_now

MOST_ON_ONE_PAGE = 50
"""People. Of more, a page that holds all pictures would be too large to open."""

REPORT_NAME = "report.html"
PEOPLE_FOLDER = "people"
"""Of the folder with a page for each person, in a run's output."""

ROLE_TITLES: dict[Role, str] = {
    Role.FACE_IMAGE: "Portrait",
    Role.TRAINING_VIDEO: "Training video",
    Role.CONSENT_VIDEO: "Consent video",
    Role.VOICE_AUDIO: "Voice recording",
}

_STAMP = re.compile(rb'<meta name="stamp" content="([0-9a-f]+)">')
_STAMP_WITHIN = 2_000
"""Bytes from the start of a page that hold its stamp."""


class Page(NamedTuple):
    """A page that can be written."""

    place: Path
    """Relative to the output folder."""
    stamp: str
    """A digest of what it shows. It stands in the page, so that one that is up to date is told
    without being made again."""
    html: Callable[[], str]

    def is_in(self, folder: Path) -> bool:
        """Whether the page lies in this output folder as it would be written now."""
        try:
            with (folder / self.place).open("rb") as file:
                found = _STAMP.search(file.read(_STAMP_WITHIN))
        except OSError:
            return False
        return found is not None and found[1].decode() == self.stamp


def pages(run: RunView, folder: Path) -> Iterator[Page]:
    """All pages of a run, for its output folder.

    Up to :data:`MOST_ON_ONE_PAGE` people stand on one page, which holds its pictures itself.
    More have a page each, and the first page leads to them; pictures are then files next to it.
    Sound and video are files in either case: prepared files that lie in the folder.
    """
    pictures = PictureFolder(folder / PICTURES_NAME)
    index = Path(REPORT_NAME)
    templates = environment()
    if len(run.people) <= MOST_ON_ONE_PAGE:
        show = pictures.embedded
        yield Page(index, _digest(run.model_dump_json()), partial(page, run, folder, show))
        return
    within = folder / PEOPLE_FOLDER
    links: list[str] = []
    stamps: list[str] = []
    people = worst_first(run.people)
    maker = _Maker(templates, Beside(folder, within), pictures.linked_from(within))
    for person in people:
        place = Path(PEOPLE_FOLDER, f"{person.slug}.html")
        stamp = _digest(person.model_dump_json())
        links.append(address(place, Path()))
        stamps.append(stamp)
        yield Page(place, stamp, partial(maker.person, run, person, stamp))
    stamp = _digest(run.model_copy(update={"people": ()}).model_dump_json(), *stamps)
    maker = _Maker(templates, Beside(folder, folder), pictures.linked_from(folder))
    yield Page(index, stamp, partial(maker.report, run, people, stamp, links))


def page(run: RunView, folder: Path | None = None, show: Show = drawn_now) -> str:
    """One page with everybody, the worst first. Every value is escaped.

    ``folder`` is where the page will lie. It links to files that lie there too, which a browser
    reads when somebody opens or plays them. Nothing else is fetched. ``show`` gives a picture
    its address.
    """
    beside = None if folder is None else Beside(folder, folder)
    maker = _Maker(environment(), beside, show)
    return maker.report(run, worst_first(run.people), _digest(run.model_dump_json()))


def worst_first(people: Sequence[PersonView]) -> list[PersonView]:
    """What needs a person first, then what went wrong, then what is open or done; by name."""
    order = {status: place for place, status in enumerate(WORST_FIRST)}
    return sorted(people, key=lambda each: (order[each.status], each.name.casefold(), each.slug))


def initials(name: str) -> str:
    """At most two letters for a person without a picture."""
    words = [word for word in name.split() if word[:1].isalnum()]
    return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper() or "?"


def by_outcome(report: Report) -> list[tuple[Outcome, tuple[Check, ...]]]:
    """The findings of each outcome that occurs, the worst outcome first. One that follows from
    another is told with it."""
    groups = ((outcome, report.told(outcome)) for outcome in OUTCOMES)
    return [(outcome, checks) for outcome, checks in groups if checks]


class _Shown(NamedTuple):
    """The addresses of an asset's pictures; None for what it does not have."""

    face: str | None
    after: str | None
    before: str | None
    timeline: str | None
    waveform: str | None
    chosen: str | None


class _Maker:
    """Renders pages that lie in one folder."""

    def __init__(self, templates: jinja2.Environment, beside: Beside | None, show: Show) -> None:
        self._templates, self._beside, self._show = templates, beside, show

    def report(
        self, run: RunView, people: Sequence[PersonView], stamp: str, links: Sequence[str] = ()
    ) -> str:
        """The page that a reader opens first. ``links`` lead to the people, who stand on the page
        itself without them."""
        counts = Counter[str](person.status for person in run.people)
        return self._render(
            "report.html.j2",
            run=run,
            people=people,
            stamp=stamp,
            links=links or [f"#p{number}" for number in range(1, len(people) + 1)],
            apart=bool(links),
            counts=[(status, counts[status]) for status in WORST_FIRST if counts[status]],
            results=self._link("results.jsonl"),
        )

    def person(self, run: RunView, person: PersonView, stamp: str) -> str:
        """The page of one person."""
        return self._render("person_page.html.j2", run=run, person=person, stamp=stamp)

    def _render(self, template: str, **context: Any) -> str:
        script = self._source("page.js")
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        return self._templates.get_template(template).render(
            script=script,
            script_hash=f"sha256-{digest}",
            index=REPORT_NAME,
            role_titles=ROLE_TITLES,
            pictures=self._pictures,
            portrait=self._portrait,
            link=self._link,
            listen=self._listen,
            dossier=self._dossier,
            initials=initials,
            by_outcome=by_outcome,
            **context,
        )

    def _source(self, name: str) -> str:
        assert self._templates.loader is not None  # noqa: S101 -- by environment()
        return self._templates.loader.get_source(self._templates, name)[0]

    def _pictures(self, asset: Asset) -> _Shown:
        found = pictures_of(asset)._asdict()
        return _Shown(**{name: each and self._show(each) for name, each in found.items()})

    def _portrait(self, person: PersonView) -> str | None:
        # A portrait that was left out may show anybody, or no one.
        shown = sorted(
            (asset for asset in person.assets if asset.role in PICTURED),
            key=lambda asset: (not asset.report.passed, PICTURED.index(asset.role)),
        )
        faces = (pictures_of(asset).face for asset in shown)
        return next((found for face in faces if face and (found := self._show(face))), None)

    def _link(self, file: str) -> str | None:
        beside = self._beside
        return None if beside is None else beside.link(beside.folder / file)

    def _listen(self, asset: Asset) -> str | None:
        if self._beside is None or asset.prepared is None or asset.consent is None:
            return None
        return self._beside.link_to_statement(asset.prepared.path, asset.consent)

    def _dossier(self, asset: Asset) -> str | None:
        return self._link(str(dossier_path(asset.prepared))) if asset.prepared else None


def _digest(*shown: str) -> str:
    digest = hashlib.sha256(__version__.encode())
    for each in shown:
        digest.update(each.encode(errors="backslashreplace"))
    return digest.hexdigest()[:32]
