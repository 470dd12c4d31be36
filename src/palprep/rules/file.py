"""Rules of the file as such, whatever it holds."""

from __future__ import annotations

from pathlib import PurePath

from palprep.media.facts import FileFacts
from palprep.rules.needs import FILE
from palprep.rules.rule import Measured, Rule


class FileExtension(Rule[FileFacts]):
    """A file is published under its name, and the service tells the format from the extension."""

    needs = FILE
    id = "file_extension"
    label = "Extension matches the content"
    predicts = "accepted file types of training_audio_url; download_link"
    advice = "Rename it to the extension of its content: palprep fix does."

    def measure(self, file: FileFacts) -> Measured | None:
        if not file.has_name:
            return None
        extension = PurePath(file.name).suffix.lower()
        wanted = file.type.extensions
        shown = extension or "no extension"
        if extension not in wanted:
            shown += f", content is {file.type.description} ({', '.join(wanted)})"
        return Measured(value=extension in wanted, shown=shown)


class FileSize(Rule[FileFacts]):
    """The service refuses larger files, or their download times out."""

    needs = FILE
    id = "file_size"
    label = "File size"
    unit = "MB"
    predicts = "file_size"
    advice = "Trim it, or encode it at a lower bit rate: palprep fix does."

    def measure(self, file: FileFacts) -> Measured:
        megabytes = file.size_bytes / 1e6
        return Measured(value=megabytes, shown=f"{megabytes:,.1f} MB")
