"""One portrait of several: the fittest image, picked as ``palprep best`` ranks them."""

from __future__ import annotations

from typing import NamedTuple

from palprep._version import __version__
from palprep.batch.originals import Original, Originals
from palprep.batch.people import Person
from palprep.batch.profiles import Profiles, profile_for
from palprep.batch.progress import Reporter
from palprep.batch.settings import SETTINGS_NAME
from palprep.batch.stages import reused, stage_key
from palprep.errors import PalprepError, UnsupportedMedia
from palprep.journal.entries import PortraitPicked
from palprep.preflight.rank import pick_best
from palprep.values import Kind
from palprep.workers.engine import Engine


class Picked(NamedTuple):
    """The person with one portrait, and what to say of the choice."""

    person: Person
    notes: tuple[str, ...] = ()


def pick_portrait(
    originals: Originals, engine: Engine, person: Person, profiles: Profiles, reporter: Reporter
) -> Picked:
    """Pick one of the person's ``portraits``; a person without several stays as it is.

    Images that cannot be read are passed over. Where none can be read, the first one stands for
    all, and its own report says why.
    """
    if not person.portraits:
        return Picked(person)
    journal = originals.journal
    known = {
        original.sha256: (file, original.source)
        for file in person.portraits
        if isinstance(original := originals.look_at(file), Original)
        and original.source.type.kind is Kind.IMAGE
    }
    if not known:
        return Picked(person.with_portrait(person.portraits[0], "no other image can be read"))
    left_out: list[str] = []
    profile = profile_for(person, profiles.own)
    key = stage_key("portrait", *known, profiles[profile].limits, __version__)
    earlier = reused(journal, PortraitPicked, key, person.slug, lambda found: found.sha256 in known)
    if earlier is not None:
        path, _ = known[earlier.sha256]
    elif len(known) == 1:
        [(path, _)] = known.values()
    else:
        reporter.begin("pick the portrait")
        images = {source.shown: (sha256, path) for sha256, (path, source) in known.items()}
        sources = [source for _, source in known.values()]
        unread: dict[str, PalprepError] = {}
        try:
            ranked = pick_best(
                sources, profile=profile, engine=engine, passed_over=unread.__setitem__
            )
        except UnsupportedMedia:
            return Picked(person.with_portrait(person.portraits[0], "no other image can be read"))
        sha256, path = images[ranked[0].path]
        journal.append(PortraitPicked(sha256=sha256), person=person.slug, key=key)
        left_out = [
            f"{images[each][1].name} was not compared: {unread[each].message}" for each in unread
        ]
    others = ", ".join(each.name for each in person.portraits if each != path)
    note = (
        f"{path.name} is the portrait: it is fitter than {others}. For another one, write "
        f'[files] face-image = "…" into {SETTINGS_NAME}'
    )
    person = person.with_portrait(path, "it is the fittest of several images")
    return Picked(person, (note, *left_out))
