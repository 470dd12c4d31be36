"""Model files that packages ship as data, and the one place that opens networks (ONNX Runtime)."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import tomllib
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

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
    """The SHA-256 of the published file, where research/conversion/networks.py converted it."""
    extra: str | None = None
    """The extra that installs ``package``, for a file that palprep does not ship."""

    @property
    def advice(self) -> str:
        return install_advice(self.extra, again=True)

    def locate(self) -> Traversable:
        """The place of the file in this installation, whether or not it is there."""
        return self._installed().joinpath(self.file)

    def require(self) -> None:
        """Raise ToolMissing unless the file is in this installation. Its content is not read."""
        if not self.locate().is_file():
            raise self._missing()

    def read(self) -> bytes:
        """The bytes of the file. Raises ToolMissing for a file that is missing, or whose SHA-256
        differs from the manifest's."""
        try:
            data = self.locate().read_bytes()
        except OSError:
            raise self._missing() from None
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise ToolMissing(
                f"The model file {self.file} is damaged or not the expected one (its sha256 "
                f"differs): {self.advice}"
            )
        return data

    def problem(self) -> str | None:
        """The message of :meth:`read` about a missing or damaged file; None for an intact one."""
        try:
            self.read()
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


@functools.cache
def load_network(home: str, name: str) -> Any:
    """The network that the package ``home`` ships under this name, loaded once in a process. Raises
    ToolMissing for a missing or damaged file."""
    return open_network(read_manifest(home)[name].read())


_SILENT = 4
"""Only fatal lines of ONNX Runtime's log are written: it raises every error anyway."""


def open_network(model: Path | bytes, *, alone: bool = False) -> Any:
    """A session of ONNX Runtime for one network, given as its file or its bytes. Threads may share
    the session.

    Each run takes one thread, because a process runs several networks at once, and there are as
    many processes as processors. A large network that runs ``alone`` takes two threads, unless
    OMP_NUM_THREADS or the number of processors is less.
    """
    # Set before the import, which alone makes ONNX Runtime 1.31 write an id of this machine into
    # the user's cache and report the process to Microsoft (Privacy.md in its package).
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime  # noqa: PLC0415 - it takes long to load, and not every reading needs it

    # For the whole process: at the first session it looks for graphics cards, and warns of none.
    # Its builds for Windows would report each session to Microsoft.
    onnxruntime.set_default_logger_severity(_SILENT)
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    allowed = os.environ.get("OMP_NUM_THREADS", "")
    threads = int(allowed) if allowed.isdecimal() else os.cpu_count() or 1
    options.intra_op_num_threads = min(2, max(1, threads)) if alone else 1
    # A thread that spins while it waits takes time from the others.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Memory is freed after each run, which costs no time.
    options.enable_cpu_mem_arena = False
    # Weights of 8 bits are expanded once, when they are loaded, and not in every run.
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    options.log_severity_level = _SILENT
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
