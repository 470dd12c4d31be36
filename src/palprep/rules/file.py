"""Rules of the file as such, whatever it holds."""

from __future__ import annotations

from pathlib import PurePath

from palprep.media import FileFacts
from palprep.rules.needs import FILE
from palprep.rules.rule import Measured, Rule
from palprep.rules.sentences import Sentences


class FileExtension(Rule[FileFacts]):
    """A file is published under its name, and the service tells the format from the extension."""

    needs = FILE
    id = "file_extension"
    label = "Extension matches the content"
    sentences = Sentences(
        "The extension of the file fits its content.",
        otherwise="The name of the file ends in {extension}. The service does not take that for "
        "its content, {content}.",
        bare="The name of the file has no extension. Its content is {content}.",
    )
    predicts = "accepted file types of training_audio_url; download_link"
    advice = "Give it the extension of its content. palprep fix does so."

    def measure(self, file: FileFacts) -> Measured | None:
        if not file.has_name:
            return None
        extension = PurePath(file.name).suffix.lower()
        wanted = file.type.extensions
        return Measured(
            value=extension in wanted,
            shown=extension or "no extension",
            way=None if extension else "bare",
            words={
                "extension": extension,
                "content": f"{file.type.description} ({', '.join(wanted)})",
            },
        )


class FileSize(Rule[FileFacts]):
    """The service refuses larger files, or their download times out."""

    needs = FILE
    id = "file_size"
    label = "File size"
    unit = "MB"
    predicts = "file_size"
    sentences = Sentences(
        "The file has {measured}.",
        below="The file is too small: it has {measured}.",
        above="The file is too large: it has {measured}.",
    )
    advice = "Trim it, or encode it at a lower bit rate. palprep fix does so."

    def measure(self, file: FileFacts) -> Measured:
        megabytes = file.size_bytes / 1e6
        return Measured(value=megabytes, shown=f"{megabytes:,.1f} MB")
