"""Which of a person's files play which role, where only their content tells."""

from __future__ import annotations

from palprep._version import __version__
from palprep.batch.fingerprint import stage_key
from palprep.batch.people.person import Person
from palprep.batch.people.settings import SETTINGS_NAME
from palprep.batch.work.decision import profile_for
from palprep.batch.work.originals import Original, Originals
from palprep.errors import PalprepError, UnsupportedMedia
from palprep.journal import PortraitPicked
from palprep.preflight import kinds_of, pick_best, seen_by
from palprep.values import Kind


def pick_portrait(originals: Originals, person: Person) -> tuple[Person, tuple[str, ...]]:
    """The person with one of the ``portraits`` picked, and what to say of the choice. A person
    without several stays as it is.

    Images that cannot be read are passed over. Where none can be read, the first one stands for
    all, and its own report says why.
    """
    if not person.portraits:
        return person, ()
    run = originals.run
    read = [
        (original.sha256, file, original.source)
        for file in person.portraits
        if isinstance(original := originals.look_at(file), Original)
    ]
    kinds = seen_by(run.engine, kinds_of, [source for _, _, source in read], Kind.OTHER)
    known = {
        sha256: (file, source)
        for (sha256, file, source), kind in zip(read, kinds, strict=True)
        if kind is Kind.IMAGE
    }
    unreadable = person.with_portrait(person.portraits[0], "no other image can be read"), ()
    if not known:
        return unreadable
    left_out: list[str] = []
    profile = profile_for(person, run.options.profile)
    key = stage_key("portrait", *known, run.profiles[profile].limits, __version__)
    earlier = run.journal.reused(
        PortraitPicked, key, person.slug, lambda found: found.sha256 in known
    )
    if earlier is not None:
        path, _ = known[earlier.sha256]
    elif len(known) == 1:
        [(path, _)] = known.values()
    else:
        originals.reporter.begin("pick the portrait")
        images = {source.shown: (sha256, path) for sha256, (path, source) in known.items()}
        sources = [source for _, source in known.values()]
        unread: dict[str, PalprepError] = {}
        try:
            ranked = pick_best(
                sources, profile=profile, engine=run.engine, passed_over=unread.__setitem__
            )
        except UnsupportedMedia:
            return unreadable
        sha256, path = images[ranked[0].path]
        run.journal.append(PortraitPicked(sha256=sha256), person=person.slug, key=key)
        left_out = [
            f"{images[each][1].name} was not compared: {unread[each].message}" for each in unread
        ]
    others = ", ".join(each.name for each in person.portraits if each != path)
    note = (
        f"{path.name} is the portrait: it is fitter than {others}. For another one, write "
        f'[files] face-image = "…" into {SETTINGS_NAME}'
    )
    return person.with_portrait(path, "it is the fittest of several images"), (note, *left_out)
