"""An error that nobody foresaw, in words that can be sent, told and reported."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import NamedTuple, Self

from palprep.errors import ToolFailed


class Unexpected(NamedTuple):
    """What a library, or palprep, raised at a file. Not every error can be sent itself."""

    kind: str
    words: str
    where: str
    """The file and line that raised it."""
    trace: str
    """What Python prints of it, for the log."""

    @classmethod
    def of(cls, error: BaseException) -> Self:
        """The error in words."""
        last = traceback.extract_tb(error.__traceback__)[-1:]
        where = "".join(f"{Path(each.filename).name}:{each.lineno}" for each in last)
        trace = "".join(traceback.format_exception(error))
        return cls(type(error).__name__, str(error), where, trace)

    def as_error(self, **context: int) -> ToolFailed:
        """The failure of that one file."""
        what = f"{self.kind}: {self.words}" if self.words else self.kind
        return ToolFailed(
            f"palprep failed at this file in a way that it does not know ({what}; in "
            f"{self.where}): the file may be damaged. Please report this, with the file if you may",
            **context,
        )
