"""The console that everything is printed on: no text of strangers reaches the terminal as it is."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Span, Text

from palprep.escaping import escaped


class SafeConsole(Console):
    """Writes out control characters and marks of direction, wherever they come from.

    Rich passes them through. Texts are changed before they are wrapped, so that tables keep their
    columns; what else rich makes of strings is changed when it is drawn.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Turn what can be drawn into segments of plain text and style."""
        if isinstance(renderable, Text):
            renderable = _written_out(renderable)
        for segment in super().render(renderable, options):
            if segment.control or segment.text == escaped(segment.text):
                yield segment
            else:
                yield Segment(escaped(segment.text), segment.style)


def _written_out(text: Text) -> Text:
    """The text with its styles, and such characters written out."""
    if text.plain == escaped(text.plain):
        return text
    pieces = text.divide(range(1, len(text.plain)))
    for piece in pieces:
        plain = escaped(piece.plain)
        if plain != piece.plain:
            styles = [span.style for span in piece.spans]
            piece.plain = plain
            piece.spans = [Span(0, len(plain), style) for style in styles]
    return text.blank_copy().join(pieces)
