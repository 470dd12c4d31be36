"""How much work the headers of one file may ask for: one budget, whatever the format.

It counts steps, not entries of one list or another, so that no way of nesting, repeating or
pointing twice at the same bytes asks for more. Honest files stay far below. Half a million steps
take Python less than a second, and the libraries that read the file next about as much.
"""

from __future__ import annotations

from typing import BinaryIO, NoReturn

from palprep.errors import DamagedMedia

MOST_STEPS = 500_000
"""A step is one header: a box, an element, a chunk. An hour in fragments of a tenth of a second has
400,000 boxes."""

TAG_STEPS = 50
"""Of a tag, a chapter, a comment, an attachment: 10,000 are all. FFmpeg looks through all tags for
each one that it reads: 200,000 of them, which take 4 MB, keep it busy for minutes. A recording with
a chapter every ten seconds has fewer in a day."""

EDIT_STEPS = 50
"""Of an entry of an edit list: FFmpeg keeps half a kilobyte of each."""

CUE_STEPS = 10
"""Of an entry of Matroska's index, which FFmpeg sorts in. An hour has some thousands."""

CHUNK_STEPS = 10
"""Of a chunk of a PNG, which Pillow reads in Python. 256 MiB in pieces of 8 KiB take 33,000."""

SEGMENT_STEPS = 50
"""Of a segment of a JPEG. In 256 MiB, XMP and profiles in pieces of 64 KiB take 4,000."""

MOST_SCANS = 100
"""Of a JPEG, all of which a decoder goes over for each. Encoders make ten or so; 8-bit colour
cannot be divided into more than some hundred."""

MOST_PADDING = 1 << 16
"""Fill bytes between two segments of a JPEG, which a decoder reads one by one; encoders write one,
if any."""

MOST_INDEX_BYTES = 64 << 20
"""Of the index of an MP4, which FFmpeg keeps as a whole. Three hours at 240 frames a second take
50 MiB."""


MOST_STREAMS = 100
"""Of a recording or a video: FFmpeg opens a decoder for each. Cameras write ten at the most."""


class HeaderReader:
    """A file of which headers are read, at most :data:`MOST_STEPS` of them.

    ``size`` is in bytes. Every method raises DamagedMedia for one step more.
    """

    def __init__(self, file: BinaryIO, size: int, name: str) -> None:
        self._file = file
        self.name = name
        self._left = MOST_STEPS
        self.size = size

    def at(self, position: int, length: int) -> bytes:
        """What stands at an offset, up to so many bytes: one step. The caller bounds ``length``."""
        self.spend(1)
        self._file.seek(position)
        return self._file.read(length)

    def between(self, start: int, end: int, most: int) -> bytes:
        """What stands between two offsets, ``most`` bytes of it."""
        return self.at(start, min(end - start, most))

    def number_at(self, position: int) -> int:
        """The four bytes at an offset, the highest one first."""
        return int.from_bytes(self.at(position, 4), "big")

    def spend(self, steps: int) -> None:
        """Take so many steps from the budget."""
        self._left -= steps
        if self._left < 0:
            self.refuse("more headers, tags, chapters or edits than any honest file")

    def refuse(self, what: str) -> NoReturn:
        """Raise DamagedMedia for a file that has this."""
        raise DamagedMedia(f"{self.name} has {what}; export it again")
