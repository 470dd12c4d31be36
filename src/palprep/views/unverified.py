"""What a consent dossier does not show, said to the reader who must judge without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from palprep.dossier.files import ExaminedDossier, FileState
from palprep.rules.same_person import SamePerson
from palprep.values import Outcome, Value


class Unverified(Value):
    """One thing that was not verified: in a few words, and what follows from it."""

    what: str
    why: str


_NEVER = (
    Unverified(
        what="Who the person is",
        why="No identity document was looked at. Faces were compared only between the "
        "person's own files, where the checks on this page say so.",
    ),
    Unverified(
        what="The spelling of the name",
        why="A name is compared by its sound. Names that sound alike are not told apart.",
    ),
    Unverified(
        what="That the recording is genuine",
        why="Whether a living person spoke in front of the camera was not tested. A synthetic or "
        "altered video, or a replayed one, is not recognised as such.",
    ),
    Unverified(
        what="Free will, age and legal capacity",
        why="Nothing shows whether the person spoke freely, understood the statement, or was of "
        "age.",
    ),
    Unverified(
        what="When it was recorded",
        why="The times of the entries are those of the computer that wrote them. No trusted "
        "timestamp was asked for.",
    ),
    Unverified(
        what="Who wrote the entries",
        why="The entries are chained, but not signed. Whoever can replace the file can write a "
        "new chain.",
    ),
    Unverified(
        what="That the last entry is the last",
        why="A chain does not show that entries were taken away from its end, such as a "
        "revocation. Compare the last sha256 with a copy that is kept elsewhere.",
    ),
    Unverified(
        what="The words, by a person",
        why="Speech recognition read the statement, and it can err. Listen to the video.",
    ),
    Unverified(
        what="Whether the statement suffices",
        why="palprep compares words. It does not judge whether they are valid consent under any "
        "law.",
    ),
)

_NOT_THERE: Mapping[FileState, str] = {
    "missing": "It was not in its place.",
    "not compared": "No one named its place when this page was made.",
}


def unverified(examined: ExaminedDossier) -> tuple[Unverified, ...]:
    """Everything that this dossier leaves open: what palprep never verifies, then what was not
    verified this time."""
    return (*_NEVER, *_this_time(examined))


def _this_time(examined: ExaminedDossier) -> Iterator[Unverified]:
    evidence = examined.dossier.evidence
    if not any(check.id == SamePerson.id for check in evidence.checks):
        yield Unverified(
            what="The same person in all files",
            why="No comparison with the faces in the person's other files is on record.",
        )
    for check in evidence.checks:
        if check.outcome == Outcome.UNKNOWN:
            yield Unverified(what=f"What {check.id} asks", why=check.sentence)
    for file in examined.files:
        if file.state in _NOT_THERE:
            yield Unverified(
                what=f"The file {file.proof.name}",
                why=f"{_NOT_THERE[file.state]} It was not compared with its recorded sha256.",
            )
    if not examined.with_journal:
        yield Unverified(
            what="The journal of the run",
            why="The dossier was not compared with the journal. The journal alone tells a chain "
            "that was written anew from its start.",
        )
