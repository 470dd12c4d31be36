"""Model files that packages ship as data: where each lies, and what it must hash to."""

from __future__ import annotations

import hashlib
import importlib.util
import tomllib
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from palprep.errors import ToolMissing
from palprep.values import Value
from palprep.vocabulary import install_advice


class Weights(Value):
    """One model file, as the ``weights/manifest.toml`` of a package describes it."""

    name: str
    home: str
    """The package of palprep that ships the file, for example ``palprep.vision``."""
    file: str
    what: str
    licence: str
    sha256: str
    package: str | None = None
    """The published package that carries the file, ``name==version``; None for palprep's own."""
    member: str | None = None
    """Its path in that package's archive, ``*`` for any folder."""
    inside: str | None = None
    """Its name inside ``member`` when that is itself a zip archive."""
    published_sha256: str | None = None
    """What that file hashes to, where palprep ships it converted (scripts/convert_networks.py)."""
    extra: str | None = None
    """The extra that installs ``package``, for a file that palprep does not ship."""

    @property
    def advice(self) -> str:
        """What brings the file back."""
        return install_advice(self.extra, again=True)

    def locate(self, folder: Path | None = None) -> Traversable:
        """Where the file lies, or would lie: in ``folder``, else in this installation."""
        return (folder or self._installed()).joinpath(self.file)

    def require(self) -> None:
        """Raises ToolMissing when the file is not in this installation. Its content is not read."""
        if not self.locate().is_file():
            raise self._missing()

    def read(self, folder: Path | None = None) -> bytes:
        """The file's bytes, whose SHA-256 has been compared.

        Raises ToolMissing for a file that is missing, or is not the one that the manifest names.
        """
        try:
            data = self.locate(folder).read_bytes()
        except OSError:
            raise self._missing() from None
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise ToolMissing(
                f"The model file {self.file} is damaged or not the expected one (its sha256 "
                f"differs): {self.advice}"
            )
        return data

    def problem(self, folder: Path | None = None) -> str | None:
        """What is wrong with the file and how to bring it back; None when it is intact."""
        try:
            self.read(folder)
        except ToolMissing as error:
            return error.message
        return None

    def _missing(self) -> ToolMissing:
        return ToolMissing(f"The model file {self.file} is missing: {self.advice}")

    def _installed(self) -> Traversable:
        if self.extra and self.member:
            # A package is found by its top name without running any of its code.
            spec = importlib.util.find_spec(self.member.partition("/")[0])
            if spec is not None and spec.submodule_search_locations:
                return Path(spec.submodule_search_locations[0])
        return resources.files(self.home).joinpath("weights")


def read_manifest(home: str) -> Mapping[str, Weights]:
    """Every model file that a package of palprep ships or loads, by its name."""
    text = resources.files(home).joinpath("weights", "manifest.toml").read_text("utf-8")
    entries = tomllib.loads(text)
    return {name: Weights(name=name, home=home, **entry) for name, entry in entries.items()}
