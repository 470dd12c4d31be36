"""Which of a person's files has which role, where names leave that open and content tells.

Names and lengths come first: they cost little. The opening of a video is listened to only where
they leave a choice. Where two answers are left, the user is asked, and told what is known of each.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set as AbstractSet
from typing import NamedTuple

from palprep._version import __version__
from palprep.batch.engines.tasks import glimpse
from palprep.batch.people.files import File, stage_key
from palprep.batch.people.person import LISTENED_TO, Person, which, why_taken
from palprep.batch.people.settings import SETTINGS_NAME
from palprep.batch.work.consent import speaker_of
from palprep.batch.work.context import RunContext
from palprep.batch.work.originals import Original, Originals
from palprep.errors import MediaError, PalprepError, ToolFailed, UnsupportedMedia, UsageError
from palprep.facts import Speaker
from palprep.journal.entries import FileGlimpsed, PortraitPicked
from palprep.media.sources import Source
from palprep.preflight import Candidate, at_one_file, kinds_by, pick_best, run_in, same_person
from palprep.rules import Profile
from palprep.rules.texts import some_of
from palprep.values import Kind, Outcome, Role
from palprep.views import duration

_LIVE_CLIP_S = 4.0
"""The clip of a live photo lasts about three seconds."""

STATEMENT_S = 45.0
"""A longer video holds more than the statement, which is said within 30 s."""

_EDITED = re.compile(r"^IMG_(?=[0-9])")
"""An iPhone saves an edited IMG_1234 as IMG_E1234 beside it."""

_CLEARLY = 1.5
"""The longest file is chosen if it is at least so many times as long as the next one."""

_BY_LENGTH = {
    Role.CONSENT_VIDEO: "it is the shorter one",
    Role.VOICE_AUDIO: "it holds the most speech",
}

Settled = tuple[Person, tuple[str, ...]]
"""The person, and what to say of the choice."""


class Seen(NamedTuple):
    """A file whose role is open, and what is known of it."""

    file: File
    length_s: float = 0.0
    stated: bool | None = None
    """Whether the statement of consent is heard in its opening; None where no one listened."""
    with_still: bool = False
    spoken_s: float | None = None
    """For how long somebody speaks in a recording."""
    against: str = ""
    """Words in its opening that refuse a consent or take it back."""

    @property
    def words(self) -> str:
        heard = {True: ", with the statement", False: ", without the statement", None: ""}
        silent = ", without speech" if self.spoken_s == 0.0 else heard[self.stated]
        return f"{duration(self.length_s)}{silent}" if self.length_s else "unreadable"

    @property
    def useful_s(self) -> float:
        """Seconds that a voice or a replica can be made of."""
        return self.length_s if self.spoken_s is None else self.spoken_s


def settle_roles(originals: Originals, person: Person) -> Settled:
    """The person, with the roles that content tells. What it leaves open becomes a problem."""
    person = _unswapped(originals, person)
    if not person.unclear:
        return person, ()
    stills = {each.stem for each in person.files if each not in person.videos}
    person, notes = _without_copies(originals, person)
    person, sorted_ = _sort_videos(originals, person, stills)
    person, picked = pick_portrait(originals, person)
    recordings = [
        _glimpsed(originals, person, each) for each in person.unclear.get(Role.VOICE_AUDIO, ())
    ]
    person, chosen = _settled(person, {Role.VOICE_AUDIO: _longest(recordings)})
    return person.model_copy(update={"unclear": {}}), (*notes, *picked, *sorted_, *chosen)


def _unswapped(originals: Originals, person: Person) -> Person:
    """The person, with the roles of two videos open if their names look swapped: the one called
    consent is longer than a statement, and longer than the one called training."""
    hinted = (each for each in person.assigned if each.by == "name" and each.role in LISTENED_TO)
    named = {each.role: each.path for each in hinted}
    if len(named) < len(LISTENED_TO):
        return person
    consent, training = (
        _glimpsed(originals, person, named[role]).length_s
        for role in (Role.CONSENT_VIDEO, Role.TRAINING_VIDEO)
    )
    if consent <= max(training, STATEMENT_S):
        return person
    others = tuple(each for each in person.assigned if each.role not in LISTENED_TO)
    unclear = {**person.unclear, **dict.fromkeys(LISTENED_TO, tuple(named.values()))}
    return person.model_copy(update={"assigned": others, "unclear": unclear})


def _without_copies(originals: Originals, person: Person) -> Settled:
    """The person with each content once; files that have a role already stay."""
    roles = {*person.sources.values()}
    alike: dict[str, list[File]] = {}
    for file in sorted(person.files, key=lambda each: (each not in roles, len(each.name))):
        if isinstance(original := originals.look_at(file), Original):
            alike.setdefault(original.sha256, []).append(file)
    told = "is not used: it is the same file as", "are not used: they are the same file as"
    notes = tuple(
        f"{some_of([each.name for each in copies])} {told[len(copies) > 1]} {first.name}"
        for first, *copies in alike.values()
        if copies
    )
    spare = {each for _, *others in alike.values() for each in others}
    unclear = {
        role: tuple(each for each in files if each not in spare)
        for role, files in person.unclear.items()
    }
    return person.model_copy(update={"unclear": unclear}), notes


def _glimpsed(
    originals: Originals, person: Person, file: File, speaker: Speaker | None = None
) -> Seen:
    """The file with what is known of it; nothing is known of one that cannot be read."""
    original = originals.look_at(file)
    if isinstance(original, MediaError):
        return Seen(file)
    run = originals.run
    profile = run.profile_of(person)
    key = stage_key("glimpsed", original.sha256, speaker, profile.model_dump_json(), __version__)
    found = run.journal.reused(FileGlimpsed, key, person.slug)
    if found is None:
        originals.reporter.begin(f"{'listen to' if speaker else 'look at'} {file.name}")
        try:
            found = run_in(run.engine, glimpse, original.source, speaker, profile)
        except (MediaError, ToolFailed) as error:
            if not at_one_file(error):
                raise
            return Seen(file)
        run.journal.append(found, person=person.slug, key=key)
    return Seen(file, found.length_s, found.stated, found.with_still, found.spoken_s, found.against)


def against_consent(
    originals: Originals, person: Person, speaker: Speaker
) -> Iterator[tuple[str, str]]:
    """The names of the recordings in which a consent is refused or taken back, each with the words:
    of those without a role, and of a training video beside the consent video."""
    known: dict[str, File] = {}
    used = dict(person.sources)
    beside = used.pop(Role.TRAINING_VIDEO, None) if Role.CONSENT_VIDEO in used else None
    for file in dict.fromkeys((*used.values(), *([beside] if beside else []), *person.heard)):
        original = originals.look_at(file)
        if isinstance(original, Original) and known.setdefault(original.sha256, file) is file:
            if file in used.values() or _glimpsed(originals, person, file).with_still:
                continue
            if said := _glimpsed(originals, person, file, speaker).against:
                yield file.name, said


def _sort_videos(originals: Originals, person: Person, stills: AbstractSet[str]) -> Settled:
    looked = [_glimpsed(originals, person, file) for file in person.videos]
    clips = [
        each
        for each in looked
        if 0 < each.length_s <= _LIVE_CLIP_S
        # Google's export names it as the still without its ending: PXL_1.MP beside PXL_1.MP.jpg.
        and (each.with_still or {each.file.stem, each.file.name} & stills)
    ]
    notes = [f"{each.file.name} is not used: it is the clip of a live photo" for each in clips]
    readable = {each.file.stem for each in looked if each.length_s}
    edited = {each: _EDITED.sub("IMG_E", each.file.stem) for each in looked if each not in clips}
    replaced = {each: by for each, by in edited.items() if by in readable - {each.file.stem}}
    notes += (
        f"{each.file.name} is not used: {by} was edited from it" for each, by in replaced.items()
    )
    videos = [each for each in edited if each not in replaced]
    roles = LISTENED_TO - {each.role for each in person.assigned}
    short = Role.CONSENT_VIDEO in roles and any(each.length_s <= STATEMENT_S for each in videos)
    if short or len(videos) > 1 or Role.TRAINING_VIDEO not in roles:
        speaker = None
        with contextlib.suppress(UsageError):
            speaker = speaker_of(person, originals.run.options.whisper_model)
        videos = [_glimpsed(originals, person, each.file, speaker) for each in videos]
    found = by_content(videos, roles)
    person, told = _settled(person, found, alone=len(videos) == 1)
    left = (each for each in videos if not any(each in choices for choices in found.values()))
    training = person.sources.get(Role.TRAINING_VIDEO)
    why = f"the training-video is {training.name}" if training else "another one is asked about"
    notes += (f"{each.file.name} ({each.words}) is not used: {why}" for each in left)
    return person, (*told, *notes)


def by_content(videos: Sequence[Seen], roles: Collection[Role]) -> dict[Role, list[Seen]]:
    """The videos that may have each of these roles: one that has it, or several for a question. The
    consent video is the short one in which the statement is heard; the training video the one that
    opens with it, or the longest. A role that no video can have is left out."""
    found: dict[Role, list[Seen]] = {}
    stated = [each for each in videos if each.stated]
    unheard = all(each.stated is None for each in videos)
    if Role.TRAINING_VIDEO not in roles:
        consent = stated or (list(videos) if unheard else [])
        return {Role.CONSENT_VIDEO: consent} if consent else {}
    left = list(videos)
    short = [each for each in stated if each.length_s <= STATEMENT_S]
    if Role.CONSENT_VIDEO in roles and short:
        found[Role.CONSENT_VIDEO] = short
        left = [each for each in left if each not in short]
    if left:
        opened = [each for each in left if each.stated]
        found[Role.TRAINING_VIDEO] = training = _longest(opened or left)
        rest = [each for each in left if each not in training and each.length_s <= STATEMENT_S]
        if Role.CONSENT_VIDEO in roles and not stated and (len(rest) == 1 or (rest and unheard)):
            # Its check says what is missing.
            found[Role.CONSENT_VIDEO] = rest
    return found


def _longest(files: Sequence[Seen]) -> list[Seen]:
    """The file with the most useful seconds; all files where none has clearly the most. Where none
    can be read, the first one is taken, and its report says why."""
    ordered = sorted(files, key=lambda each: -each.useful_s)
    clear = not any(each.length_s for each in files) or all(
        each.length_s > 0 and ordered[0].useful_s >= max(_CLEARLY * each.useful_s, 1.0)
        for each in ordered[1:]
    )
    return ordered[:1] if clear else ordered


def _settled(person: Person, found: dict[Role, list[Seen]], *, alone: bool = False) -> Settled:
    """The person, with each role that has one choice settled; the others become questions. With
    ``alone`` no other file could have been chosen."""
    notes: list[str] = []
    for role, choices in found.items():
        if len(choices) == 1:
            [chosen] = choices
            why = _BY_LENGTH.get(role, "it is the longest")
            if chosen.stated:
                why = "the statement of consent is heard in it"
            elif alone:
                why = why_taken(role, chosen.file)
            elif not chosen.length_s:
                why = "no other one can be read"
            person = person.settled(role, chosen.file, why)
            notes.append(person.assigned[-1].words)
        elif choices:
            person = _asked(person, role, {each.file: each.words for each in choices})
    return person, tuple(notes)


def _asked(person: Person, role: Role, choices: Mapping[File, str]) -> Person:
    """The person, with the question which of the files has the role."""
    asked = {**person.asked, role: tuple(each.name for each in choices)}
    problems = (*person.problems, which(role, choices))
    return person.model_copy(update={"problems": problems, "asked": asked})


def _strangers(
    run: RunContext, ranked: Sequence[Candidate], shown: Mapping[str, Source], profile: Profile
) -> list[Source]:
    """The images that show somebody else than the best one, of those that show one person each: the
    largest face of a group may be anybody's."""
    single = (each for each in ranked if "only_one_person_visible" not in each.failed)
    alone = [shown[each.path] for each in single if each.duplicate_of is None]
    if len(alone) < 2 or alone[0] is not shown[ranked[0].path]:
        return []
    # The pairs with the first image come first.
    checks = run.engine.run(same_person, tuple(alone), profile=profile)
    pairs = zip(alone[1:], checks, strict=False)
    return [each for each, check in pairs if check.outcome is Outcome.FAIL]


def pick_portrait(originals: Originals, person: Person) -> Settled:
    """The person with one of several portraits picked, or with a question where they show several
    people. Images that cannot be read are passed over. Where none can be read, the first one is
    taken, and its report says why."""
    portraits = person.unclear.get(Role.FACE_IMAGE)
    if not portraits:
        return person, ()
    run = originals.run
    looked = ((file, originals.look_at(file)) for file in portraits)
    read = {each.source: file for file, each in looked if isinstance(each, Original)}
    kinds = kinds_by(run.engine)([*read])
    images = [each for each, kind in zip(read, kinds, strict=True) if kind is Kind.IMAGE]
    known = {source.sha256: read[source] for source in images}
    left_out = [
        f"{each.name} is not used: it cannot be read as an image"
        for each in portraits
        if each not in known.values()
    ]
    unreadable = person.settled(Role.FACE_IMAGE, portraits[0], "no other image can be read"), ()
    if not known:
        return unreadable
    profile = run.profile_of(person)
    key = stage_key("portrait", *known, profile.model_dump_json(), __version__)
    earlier = run.journal.reused(
        PortraitPicked, key, person.slug, lambda found: found.sha256 in known
    )
    if earlier is not None:
        path = known[earlier.sha256]
    elif len(known) == 1:
        [path] = known.values()
    else:
        originals.reporter.begin("pick the portrait")
        unread: dict[str, PalprepError] = {}
        try:
            ranked = pick_best(
                images, profile=profile, engine=run.engine, passed_over=unread.__setitem__
            )
        except UnsupportedMedia:
            return unreadable
        shown = {source.shown: source for source in images}
        best = shown[ranked[0].path]
        path = read[best]
        # A video shows the person, and is compared. Without a stock voice no portrait is used.
        unproven = person.settings.stock_voice and not person.sources.keys() & LISTENED_TO
        if unproven and (strangers := _strangers(run, ranked, shown, profile)):
            words = dict.fromkeys((read[each] for each in strangers), "shows somebody else")
            return _asked(person, Role.FACE_IMAGE, {path: "the fittest", **words}), ()
        run.journal.append(PortraitPicked(sha256=best.sha256), person=person.slug, key=key)
        left_out += (
            f"{read[shown[each]].name} was not compared: {why.message}"
            for each, why in unread.items()
        )
    picked = person.settled(Role.FACE_IMAGE, path, "it is the fittest of several images")
    others = ", ".join(each.name for each in known.values() if each != path)
    if not others:
        return picked, tuple(left_out)
    note = (
        f"{path.name} is the portrait: it is fitter than {others}. For another one, write "
        f'[files] face-image = "…" into {SETTINGS_NAME}'
    )
    return picked, (note, *left_out)
