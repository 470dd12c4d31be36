"""The page of a run: one HTML file; for many people a page for each and an index; for very many
also lists of people by what blocks them."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from palprep._version import __version__
from palprep.dossier import dossier_path
from palprep.journal.runs import PersonStatus, PersonView, ReadableRun, RunHead
from palprep.preflight import Asset
from palprep.rules.texts import blocker_words
from palprep.storage import is_file
from palprep.views.drawings.pictures import (
    PICTURED,
    PICTURES_NAME,
    PictureFolder,
    Show,
    pictures_of,
    relative_url,
)
from palprep.views.html import environment, page_asset
from palprep.views.outcomes import STATUSES, WORST_FIRST
from palprep.vocabulary import by_name

MOST_ON_ONE_PAGE = 50
"""People. With more, a page that holds all pictures would be too large to open."""

MOST_IN_A_LIST = 1_000
"""People. A browser can open and search a list of this length at once."""

REPORT_NAME = "report.html"
PEOPLE_FOLDER = "people"
"""The folder for the pages of people, in a run's output."""

_MOST_SLUG_BYTES = 240
"""Of a slug that names a page. The suffix and a part's name, while it is written, follow."""

_TOLD = re.compile(rb'<meta name="(stamp|face)" content="([0-9a-z./]*)">')
_HEAD = 2_000
"""Bytes from the start of a page that hold its stamp and its portrait."""


class Page(NamedTuple):
    place: str
    """Relative to the output folder, with slashes."""
    stamp: str
    """A digest of its content, written into the page, by which an up-to-date page is recognised."""
    html: Callable[[], str]
    person: str | None = None
    """The slug of the person; None for a page of several people."""

    def is_in(self, folder: Path) -> bool:
        """Whether the page is in this output folder as it would be written now."""
        return _head_of(folder / self.place).get("stamp") == self.stamp


def _head_of(path: Path) -> dict[str, str]:
    """The stamp and the portrait that a written page names; empty if there is no page."""
    try:
        with path.open("rb") as file:
            return {name.decode(): told.decode() for name, told in _TOLD.findall(file.read(_HEAD))}
    except OSError:
        return {}


def is_page(path: Path) -> bool:
    return "stamp" in _head_of(path)


def person_page(slug: str) -> str:
    """The :attr:`Page.place` of a person's page. It is in one of 256 folders, by a digest of the
    slug, so that of 100,000 pages each folder holds some hundred."""
    return f"{PEOPLE_FOLDER}/{_slug_digest(slug)[:2]}/{stem_of(slug)}.html"


def stem_of(slug: str) -> str:
    """The name of a person's own file, without its suffix: the slug, or a digest in place of one
    that is too long. File systems take 255 bytes."""
    fits = len(slug.encode(errors="backslashreplace")) <= _MOST_SLUG_BYTES
    return slug if fits else _slug_digest(slug)[:32]


def _slug_digest(slug: str) -> str:
    return hashlib.sha256(slug.encode(errors="backslashreplace")).hexdigest()


def pages(run: ReadableRun, folder: Path) -> Sequence[Page]:
    """All pages of a run, for its output folder; the first page to read comes last. Up to
    :data:`MOST_ON_ONE_PAGE` people are on one page, which holds its pictures. More have a page
    each, and their pictures are files; the first page links to them, or with more than
    :data:`MOST_IN_A_LIST` people to lists by what blocks them. A person is read only when a page
    with that person is made."""
    people = worst_first([_Row.of(each) for each in run.rows()])
    # Without times: a run that has changed nothing leaves the page as it is.
    head = run.head.model_dump_json(exclude={"started_at", "updated_at"})
    stamp = _digest(head, *sorted(each.mark for each in people))

    def alone() -> str:
        everybody = tuple(run.person(each.slug) for each in people)
        show = PictureFolder(folder / PICTURES_NAME).embedded
        return overview(run.head, everybody, stamp, Links(folder, folder, show))

    if len(people) <= MOST_ON_ONE_PAGE:
        return [Page(REPORT_NAME, stamp, alone)]
    crowd = _Crowd(run, folder)
    if len(people) <= MOST_IN_A_LIST:
        parts, first = [], partial(crowd.listed, REPORT_NAME, stamp, people)
    else:
        parts = _parts(people)
        first = partial(overview, run.head, people, stamp, crowd.within(REPORT_NAME), parts=parts)
    return [
        *(
            Page(person_page(row.slug), row.mark, partial(crowd.alone, row), row.slug)
            for row in people
        ),
        *map(crowd.page_of, parts),
        Page(REPORT_NAME, stamp, first),
    ]


class _Row(NamedTuple):
    """The part of a person that is kept in memory for very many people."""

    slug: str
    name: str
    status: PersonStatus
    blocker: str | None
    waived: bool
    mark: str
    """A digest of :attr:`PersonView.mark`."""

    @classmethod
    def of(cls, person: PersonView) -> _Row:
        waived, mark = bool(person.waived), _digest(person.mark)
        return cls(person.slug, person.name, person.status, person.blocker, waived, mark)


class _Part(NamedTuple):
    """A list of those of very many people who have the same blocker, or a part of that list."""

    heading: str
    status: str
    """The first person's."""
    place: str
    people: Sequence[_Row]


def _parts(people: Sequence[_Row]) -> list[_Part]:
    """Lists of people by their blocker or else their status, in this order; each by name."""
    reasons: dict[str, list[_Row]] = {}
    for person in people:
        reasons.setdefault(person.blocker or person.status, []).append(person)
    found: list[_Part] = []
    for reason, members in reasons.items():
        members.sort(key=_by_name)
        some = [members[at : at + MOST_IN_A_LIST] for at in range(0, len(members), MOST_IN_A_LIST)]
        status = members[0].status
        words = STATUSES[status].meaning if reason == status else blocker_words(reason)
        for number, part in enumerate(some, 1):
            place = f"{PEOPLE_FOLDER}/{reason}-{number}.html"
            which = f", part {number} of {len(some)}" if len(some) > 1 else ""
            heading = f"{words[:1].upper()}{words[1:]}{which}"
            found.append(_Part(heading, status, place, part))
    return found


@dataclass(frozen=True)
class _Crowd:
    """The pages of many people, with one for each."""

    run: ReadableRun
    folder: Path

    def alone(self, row: _Row) -> str:
        person, links = self.run.person(row.slug), self.within(person_page(row.slug))
        face = portrait_of(person, links.show)
        return _render(
            "person_page.html.j2",
            links,
            run=self.run.head,
            person=person,
            told={"stamp": row.mark, "face": "/".join(Path(face).parts[-2:]) if face else ""},
            portrait=lambda _: face,
        )

    def page_of(self, part: _Part) -> Page:
        marks = (each.mark for each in part.people)
        stamp = _digest(self.run.head.model_dump_json(), part.heading, *marks)
        return Page(part.place, stamp, partial(self.listed, part.place, stamp, part.people, part))

    def listed(
        self, place: str, stamp: str, rows: Sequence[_Row], part: _Part | None = None
    ) -> str:
        links = self.within(place)
        own = {each.slug: (person_page(each.slug), each.mark) for each in rows}

        def portrait(person: PersonView) -> str | None:
            """Read from the person's own page, which is written first, or else drawn."""
            theirs, mark = own[person.slug]
            told = _head_of(self.folder / theirs)
            if told.get("stamp") != mark:
                return portrait_of(self.run.person(person.slug), links.show)
            face = told.get("face")
            return links.url(f"{PICTURES_NAME}/{face}") if face else None

        urls = [links.url(theirs) for theirs, _ in own.values()]
        shown = {"links": urls, "apart": True, "part": part, "portrait": portrait}
        people = tuple(self.run.rows([*own]))
        return overview(self.run.head, people, stamp, links, **shown)

    def within(self, place: str) -> Links:
        own = (self.folder / place).parent
        pictures = PictureFolder(self.folder / PICTURES_NAME)
        return Links(self.folder, own, pictures.linked_from(own))


P = TypeVar("P", PersonView, _Row)


def _by_name(person: PersonView | _Row) -> tuple[tuple[str, str], ...]:
    return by_name(person.name), by_name(person.slug)


def worst_first(people: Sequence[P]) -> list[P]:
    """People in the order of :data:`WORST_FIRST`, then by name."""
    order = {status: place for place, status in enumerate(WORST_FIRST)}
    return sorted(people, key=lambda each: (order[each.status], _by_name(each)))


@dataclass(frozen=True)
class Links:
    """Links to the files of a run's output ``folder``, for a page in ``page_folder`` below it.
    ``show`` gives the URLs of pictures."""

    folder: Path
    page_folder: Path
    show: Show

    def link(self, file: str | Path) -> str | None:
        """The URL of a file, relative to the page; None for a missing file, and for one outside the
        output, which would be missing when the folder is handed on."""
        file, folder = self.folder / file, self.folder.resolve()
        if not is_file(file):
            return None  # First, because a link that leads to itself cannot be resolved.
        path = file.resolve()
        if not path.is_relative_to(folder):
            return None
        return relative_url(path, self.page_folder.resolve())

    def url(self, place: str) -> str:
        """The URL of a file of the output, which need not be there yet."""
        return relative_url(self.folder / place, self.page_folder)

    def listen(self, asset: Asset) -> str | None:
        """The URL of a prepared file, with the statement as its media fragment (W3C Media Fragments
        URI 1.0) if the times are known. None without a reading, otherwise as :meth:`link`."""
        facts = asset.report.consent
        if asset.prepared is None or facts is None:
            return None
        link = self.link(asset.prepared.path)
        if link is None or facts.starts_at is None or facts.ends_at is None:
            return link
        return f"{link}#t={facts.starts_at:g},{facts.ends_at:g}"

    def dossier(self, asset: Asset) -> str | None:
        """The URL of the dossier next to a prepared file. None as for :meth:`link`."""
        return self.link(dossier_path(asset.prepared)) if asset.prepared else None

    def pictures(self, asset: Asset) -> dict[str, str | None]:
        """The URLs of an asset's pictures by their names in :class:`AssetPictures`."""
        seen = pictures_of(asset)._asdict()
        return {name: each and self.show(each) for name, each in seen.items()}


def overview(
    run: RunHead,
    people: Sequence[PersonView] | Sequence[_Row],
    stamp: str,
    links: Links,
    /,
    **shown: Any,
) -> str:
    """A page of people in this order. They are on the page itself, unless ``shown`` has ``links``
    to pages ``apart``, a ``part`` of the people, or the ``parts`` that list them. ``stamp`` is that
    of :class:`Page`."""
    counts = Counter[str](person.status for person in people)
    blockers = Counter(filter(None, (person.blocker for person in people)))
    alone = {
        "links": [f"#p{number}" for number in range(1, len(people) + 1)],
        "portrait": partial(portrait_of, show=links.show),
        "apart": False,
        "part": None,
        "parts": (),
    }
    return _render(
        "report.html.j2",
        links,
        run=run,
        people=people,
        told={"stamp": stamp},
        counts=[(status, counts[status]) for status in WORST_FIRST if counts[status]],
        blockers=[(each, blocker_words(each), n) for each, n in blockers.most_common()],
        results=[name for name in ("results.jsonl", "results.csv") if links.link(name)],
        **{**alone, **shown},
    )


def _render(template: str, files: Links, /, **context: Any) -> str:
    script = page_asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = environment().get_template(template)
    return page.render(
        script=script,
        styles=page_asset("report.css"),
        script_hash=f"sha256-{digest}",
        index=files.url(REPORT_NAME),
        files=files,
        **context,
    )


def portrait_of(person: PersonView, show: Show) -> str | None:
    """The URL of the best small picture of a person."""
    # A portrait that failed may show anybody, or no one.
    shown = sorted(
        (asset for asset in person.assets if asset.role in PICTURED),
        key=lambda asset: (not asset.report.passed, PICTURED.index(asset.role)),
    )
    faces = (pictures_of(asset).face for asset in shown)
    return next((found for face in faces if face and (found := show(face))), None)


def _digest(*shown: str) -> str:
    digest = hashlib.sha256(__version__.encode())
    for each in shown:
        digest.update(each.encode(errors="backslashreplace"))
    return digest.hexdigest()[:32]
