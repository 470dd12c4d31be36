"""A file of a person: where it is, what it is or claims to be, and whether it has changed. By the
measure of ``make`` and ``git``, a file has changed when its size, inode or times of change have.
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
    """Whether the text is a URL of any kind, and not a path."""
    return "://" in text


def is_web(url: str) -> bool:
    """Whether it is an address that files are fetched from: HTTPS, or HTTP on this machine."""
    return is_https(url, loopback=True) and is_address(url)


class RemoteFile(Value):
    """A file at a URL, in a bucket or on the web. A bucket lists ``size_bytes`` and ``etag``."""

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

_PROMISES: Mapping[str, Kind] = {
    **dict.fromkeys(_IMAGES.split(), Kind.IMAGE),
    **dict.fromkeys(_SOUNDS.split(), Kind.AUDIO),
    **dict.fromkeys(_VIDEOS.split(), Kind.VIDEO),
}
"""A file whose content is unknown, or fits no role, counts as the kind that its name promises. Its
own check then says what it is."""


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
"""Files that Windows, macOS, Linux and network storage leave on a disk or in each folder."""


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name belongs to the system or an office program."""
    return name.startswith((".", "__", "~$")) or name.lower() in _OF_A_DISK


def printable(name: str) -> str:
    """The name, with U+FFFD for each byte that is not UTF-8. File systems allow any byte."""
    return os.fsencode(name).decode("utf-8", "replace")


def misread(name: str) -> str:
    """What is wrong with a name that :func:`printable` changes, and what to do."""
    if "\ufffd" in printable(name):
        return "is not UTF-8: rename it"
    return "is not read as UTF-8 here: set PYTHONUTF8=1, and run the same command again"


def folder_fingerprint(folder: str | Path) -> str | None:
    """A digest of the state of all files in the folder and below, which shows every change. None
    where the folder cannot be read, or holds a link to another folder, which may be anywhere."""
    return _fingerprint(_files_below(os.fspath(folder)))


def files_fingerprint(paths: Iterable[Path]) -> str | None:
    """A digest of the state of these files. None where one of them cannot be read."""
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
        states = [
            (path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
            for path, stat in files
        ]
    except OSError:
        return None
    return digest_of(sorted(states))


def stage_key(kind: str, *parts: object) -> str:
    """The key of a stage's input: equal parts give equal keys."""
    return f"{kind}-{digest_of([str(part) for part in parts])}"


def digest_of(what: object) -> str:
    """A digest of a value that JSON can hold."""
    # Names of files may hold bytes that are not UTF-8, as surrogates: ASCII escapes them.
    return hashlib.sha256(json.dumps(what, ensure_ascii=True).encode()).hexdigest()[:32]
