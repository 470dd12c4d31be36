"""A file of a person: where it is, what it is or claims to be, and whether it is as it was: as
long as its size, inode and times of change are, as ``make`` and ``git`` take it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from unicodedata import normalize
from urllib.parse import unquote

from pydantic import Field

from palprep.api.records import is_address, is_https
from palprep.storage import is_folder, without_secrets
from palprep.values import Kind, Value


def is_url(text: str) -> bool:
    """Whether it is a URL, of whatever kind, and no path."""
    return "://" in text


def is_web(url: str) -> bool:
    """Whether it is an address that files are fetched from: HTTPS, or HTTP on this machine."""
    return is_https(url, loopback=True) and is_address(url)


class RemoteFile(Value):
    """A file at a URL: in a bucket, or on the web.

    ``size_bytes`` and ``etag`` are known of one that a bucket has listed.
    """

    url: str = Field(repr=False)
    """With its query, which may be a signature: nothing shows or records it."""
    size_bytes: int | None = None
    etag: str | None = None

    @property
    def shown(self) -> str:
        """The address without what may be secret: user, password, query and fragment."""
        # A name in a bucket may hold a question mark.
        return without_secrets(self.url) if is_web(self.url) else self.url

    @property
    def name(self) -> str:
        path = self.shown.partition("://")[2].partition("/")[2]
        last = path.rstrip("/").rpartition("/")[2]
        return unquote(last) if is_web(self.url) else last

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix

    def __str__(self) -> str:
        return self.shown


File = Path | RemoteFile

_IMAGES = (
    ".jpg .jpeg .jpe .jfif .mpo .png .webp .heic .heif .hif .avif .jxl .jp2 .gif .bmp .tif .tiff"
    " .psd .dng .cr2 .cr3 .nef .arw .raf .orf .rw2"
)
_SOUNDS = (
    ".mp3 .wav .m4a .m4b .flac .ogg .oga .opus .aac .amr .awb .3ga .3gpp .caf .aif .aiff .aifc"
    " .wma .weba .mka"
)
_VIDEOS = (
    ".mp4 .mov .qt .m4v .webm .mkv .avi .3gp .3g2 .wmv .flv .mxf .ogv .mpg .mpeg .vob .mts .m2ts"
    " .ts"
)

# A file whose content is unknown, or fits no role, counts as the media that its name promises. Its
# own check then says what it is.
_PROMISES: Mapping[str, Kind] = {
    **dict.fromkeys(_IMAGES.split(), Kind.IMAGE),
    **dict.fromkeys(_SOUNDS.split(), Kind.AUDIO),
    **dict.fromkeys(_VIDEOS.split(), Kind.VIDEO),
}


KindsOf = Callable[[tuple[Path, ...]], tuple[Kind, ...]]
"""Opens files to see what they are, in a worker where they are a stranger's: see
:func:`palprep.preflight.kinds_by`."""


def kinds_in(paths: Iterable[Path], kinds_of: KindsOf) -> Mapping[Path, Kind | None]:
    """The kind of media that each file is, or claims to be by its name; None for anything else."""
    found: dict[Path, Kind | None] = dict.fromkeys(paths)
    files = tuple(each for each in found if not is_folder(each))
    for path, kind in zip(files, kinds_of(files), strict=True):
        found[path] = promised_kind(path.name) if kind is Kind.OTHER else kind
    return found


def promised_kind(name: str) -> Kind | None:
    """The kind of media that a file's name promises; None where it promises none."""
    return _PROMISES.get(PurePosixPath(name).suffix.lower())


def in_other_form(name: str, among: Iterable[File]) -> File | None:
    """The file whose name looks the same, in another form of Unicode: macOS and archives made there
    take letters and accents apart."""
    wanted = normalize("NFC", name)
    return next((path for path in among if normalize("NFC", path.name) == wanted), None)


_OF_A_DISK = frozenset(
    {"thumbs.db", "desktop.ini", "$recycle.bin", "system volume information", "icon\r"}
    | {"lost+found", "@eadir", "#recycle", "#snapshot"}
)
"""What Windows, macOS, Linux and storage in a network leave on a disk or in each folder."""


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name is the system's or an office's, and no one's media."""
    return name.startswith((".", "__", "~$")) or name.lower() in _OF_A_DISK


def printable(name: str) -> str:
    """The name with a sign for each byte that is not UTF-8. File systems allow any byte."""
    return os.fsencode(name).decode("utf-8", "replace")


def folder_fingerprint(folder: str | Path) -> str | None:
    """Of all files in the folder and below: another one when they are not as they were. None where
    it cannot be read, or holds a link to another folder, which may be anywhere.
    """
    return _fingerprint(_files_below(os.fspath(folder)))


def files_fingerprint(paths: Iterable[Path]) -> str | None:
    """Of these files. None where one cannot be looked at."""
    return _fingerprint((str(path), path.stat()) for path in paths)


def _files_below(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    folders = [folder]
    while folders:
        here = folders.pop()
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.is_dir():
                    if entry.is_symlink():
                        raise OSError(f"{entry.path} is a folder elsewhere")
                    folders.append(entry.path)
                else:
                    yield entry.path, entry.stat()


def _fingerprint(files: Iterable[tuple[str, os.stat_result]]) -> str | None:
    try:
        shown = [
            (path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
            for path, found in files
        ]
    except OSError:
        return None
    return digest_of(sorted(shown))


def stage_key(kind: str, *parts: object) -> str:
    """The name of a stage's input: the same parts give the same key."""
    return f"{kind}-{digest_of([str(part) for part in parts])}"


def digest_of(what: object) -> str:
    """A digest of what JSON can hold."""
    # Names of files may hold bytes that are not UTF-8, as surrogates: ASCII escapes them.
    return hashlib.sha256(json.dumps(what, ensure_ascii=True).encode()).hexdigest()[:32]
