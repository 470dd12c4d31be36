"""One portrait of several: the fittest image, picked as ``palprep best`` ranks them."""

from __future__ import annotations

from typing import NamedTuple

from palprep._version import __version__
from palprep.batch.engine import Engine
from palprep.batch.people import Person
from palprep.batch.progress import Reporter
from palprep.batch.settings import SETTINGS_NAME
from palprep.batch.sources import look_at
from palprep.batch.stages import reused, stage_key
from palprep.batch.tasks import fittest_portrait
from palprep.journal.entries import PortraitPicked
from palprep.journal.store import Journal
from palprep.media.source import Source
from palprep.rules.profile import load_profile
from palprep.values import Kind


class Picked(NamedTuple):
    """The person with one portrait, and what to say of the choice."""

    person: Person
    notes: tuple[str, ...] = ()


def pick_portrait(
    journal: Journal, engine: Engine, person: Person, profile: str, reporter: Reporter
) -> Picked:
    """Pick one of the person's ``portraits``; a person without several stays as it is.

    Images that cannot be read are passed over. Where none can be read, the first one stands for
    all, and its own report says why.
    """
    if not person.portraits:
        return Picked(person)
    looked = [look_at(str(path)) for path in person.portraits]
    images = [each for each in looked if isinstance(each, Source) and each.type.kind is Kind.IMAGE]
    if not images:
        return Picked(person.with_portrait(person.portraits[0], "no other image can be read"))
    limits = load_profile(profile).model_dump_json()
    key = stage_key("portrait", *(each.sha256 for each in images), limits, __version__)
    known = {each.sha256: each.path for each in images}
    earlier = reused(journal, PortraitPicked, key, person.slug, lambda found: found.sha256 in known)
    if earlier is not None:
        path = known[earlier.sha256]
    elif len(images) == 1:
        path = images[0].path
    else:
        reporter.begin("pick the portrait")
        best = engine.run(fittest_portrait, tuple(str(each.path) for each in images), profile)
        path = next(each.path for each in images if str(each.path) == best)
        sha256 = next(each.sha256 for each in images if each.path == path)
        journal.append(PortraitPicked(sha256=sha256), person=person.slug, key=key)
    others = ", ".join(each.name for each in person.portraits if each != path)
    note = (
        f"{path.name} is the portrait: it is fitter than {others}. For another one, write "
        f'[files] face-image = "…" into {SETTINGS_NAME}'
    )
    return Picked(person.with_portrait(path, "it is the fittest of several images"), (note,))
