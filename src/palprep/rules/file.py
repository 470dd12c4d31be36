"""Rules of the file as such, whatever it holds."""

from __future__ import annotations

from pathlib import PurePath

from palprep.facts.facts import Facts
from palprep.rules.rule import Measured, Rule


class FileExtension(Rule):
    """The name a file is published under says what it is: the service reads the extension."""

    id = "file_extension"
    label = "Extension matches the content"
    predicts = "accepted file types of training_audio_url; download_link"
    advice = "Rename it to the extension of its content: palprep fix does."

    def measure(self, facts: Facts) -> Measured:
        extension = PurePath(facts.file.name).suffix.lower()
        wanted = facts.file.type.extensions
        shown = extension or "no extension"
        if extension not in wanted:
            shown += f", content is {facts.file.type.description} ({', '.join(wanted)})"
        return Measured(value=extension in wanted, shown=shown)


class FileSize(Rule):
    """Larger files are refused, or time out on the way."""

    id = "file_size"
    label = "File size"
    unit = "MB"
    predicts = "file_size"
    advice = "Trim it, or encode it at a lower rate: palprep fix does."

    def measure(self, facts: Facts) -> Measured:
        megabytes = facts.file.size_bytes / 1e6
        return Measured(value=megabytes, shown=f"{megabytes:,.1f} MB")


FILE_RULES: tuple[type[Rule], ...] = (FileExtension, FileSize)
