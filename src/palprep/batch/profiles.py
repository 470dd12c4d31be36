"""The profiles that a run holds files against: each read once, for however many people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from palprep.batch.people import Person
from palprep.rules.profile import BUILT_IN, load_profile


class Read(NamedTuple):
    """What a profile says: the model that it is for, and all of its limits, as JSON."""

    model: str
    limits: str


def profile_for(person: Person, profile: str) -> str:
    """The profile that the person's files are held against; ``profile`` is the run's."""
    model = person.settings.model
    return model if model in BUILT_IN and model is not None else profile


@dataclass(frozen=True)
class Profiles:
    """The profile of a run, ``own``, and those of the models that people may name."""

    own: str
    _read: Mapping[str, Read]

    @classmethod
    def of_run(cls, own: str) -> Profiles:
        """Read them. Raises ProfileError for a profile that there is not."""
        found = {name: load_profile(name) for name in dict.fromkeys((own, *BUILT_IN))}
        return cls(
            own, {name: Read(each.model, each.model_dump_json()) for name, each in found.items()}
        )

    def __getitem__(self, name: str) -> Read:
        """What the run's own profile says, or one of palprep's."""
        return self._read[name]
