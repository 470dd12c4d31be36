"""The candidates of a ranking as small pictures, next to each other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from palprep.errors import PalprepError
from palprep.media.source import Source
from palprep.media.thumbnail import frames_at, thumbnail
from palprep.preflight.rank import Candidate
from palprep.views.embedded import Embedded

MOST = 12
"""Pictures on a sheet; what nearly equals a better candidate is left out first."""

SIDE = 200
"""Longest side of a picture in pixels."""


class Shot(NamedTuple):
    """One candidate on the sheet."""

    rank: int
    """From 1, among all candidates."""
    candidate: Candidate
    picture: str | None
    """An address for a ``src``; None for a file that can no longer be read."""


def shots(ranking: Iterable[Candidate]) -> tuple[Shot, ...]:
    """The best candidates that differ from each other, with their pictures."""
    numbered = [
        (rank, each) for rank, each in enumerate(ranking, start=1) if each.duplicate_of is None
    ][:MOST]
    pictures = dict(_pictures(each for _, each in numbered))
    return tuple(Shot(rank, each, pictures.get((each.path, each.at_s))) for rank, each in numbered)


def _pictures(candidates: Iterable[Candidate]) -> Iterator[tuple[tuple[str, float | None], str]]:
    """The picture of each, by path and time; a video is decoded once for all its frames."""
    ordered = sorted(candidates, key=lambda each: (each.path, each.at_s or 0.0))
    for path, group in groupby(ordered, key=lambda each: each.path):
        times = [each.at_s for each in group]
        with contextlib.suppress(PalprepError, OSError):
            for at_s, data in zip(times, _drawn(path, times), strict=False):
                yield (path, at_s), Embedded(data, "image/jpeg").data_uri


def _drawn(path: str, times: Iterable[float | None]) -> Iterator[bytes]:
    source = Source.of(path)
    moments = [at_s for at_s in times if at_s is not None]
    if moments:
        yield from (data for _, data in frames_at(source, moments, max_side=SIDE))
    else:
        yield thumbnail(source, max_side=SIDE)
