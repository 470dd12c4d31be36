"""Base64 of a file, made while it is sent, so that no body is held in memory whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

from palprep.vocabulary import FileInput


class Base64Stream(ABC):
    """The base64 of a file, without line breaks, in pieces.

    It can be iterated any number of times, so that a request can be sent again.
    """

    name: str
    """What messages call the file."""
    size: int
    """Of the file, in bytes."""

    @property
    def chars(self) -> int:
        """Characters of base64, known before any is made."""
        return 4 * ((self.size + 2) // 3)

    @property
    @abstractmethod
    def mime(self) -> str | None:
        """The MIME type that the file's content shows, None when no endpoint takes it."""

    @abstractmethod
    def __iter__(self) -> Iterator[bytes]: ...

    @abstractmethod
    def __aiter__(self) -> AsyncIterator[bytes]: ...


OpenFile = Callable[[FileInput], Base64Stream]
"""Opens what a caller gave. Raises a :class:`~palprep.errors.PalprepError` for what cannot be
read."""


@dataclass(frozen=True)
class StreamedBody:
    """A body as it travels: the JSON text ``before`` the stream, its base64, the text ``after``.

    Its ``len`` is exact, in bytes.
    """

    before: bytes
    content: Base64Stream
    after: bytes

    @classmethod
    def of(cls, member: str, content: Base64Stream, others: str) -> StreamedBody:
        """An object whose first member is the stream; ``others`` is a JSON object of the rest."""
        rest = others.removeprefix("{")
        return cls(
            f'{{"{member}":"'.encode(),
            content,
            f'"{"" if rest == "}" else ","}{rest}'.encode(),
        )

    def __len__(self) -> int:
        return len(self.before) + self.content.chars + len(self.after)

    def __iter__(self) -> Iterator[bytes]:
        yield self.before
        yield from self.content
        yield self.after

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.before
        async for piece in self.content:
            yield piece
        yield self.after
