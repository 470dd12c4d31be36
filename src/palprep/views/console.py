"""The console that everything is printed on: no text of strangers reaches the terminal as it is."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from palprep.escaping import escaped


class SafeConsole(Console):
    """Writes out control characters and marks of direction, wherever they come from.

    Rich passes them through. Texts are changed before they are wrapped, so that tables keep their
    columns; what else rich makes of strings is changed when it is drawn.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        if isinstance(renderable, Text) and renderable.plain != escaped(renderable.plain):
            text, renderable = renderable, renderable.blank_copy()
            for piece in text.render(self):
                renderable.append(escaped(piece.text), piece.style)
        for segment in super().render(renderable, options):
            if segment.control or segment.text == escaped(segment.text):
                yield segment
            else:
                yield Segment(escaped(segment.text), segment.style)
