"""What a test session measures once, for tests of what is made of it.

The facts of a file of the same bytes, in the same role and listened to for the same words, are the
same; so is what a model of speech makes of the same sound and the same text, and what a network of
vision makes of the same picture. Processes that share the folder take it from each other. Tests of
measuring, of listening, of limits and of workers do not use this, nor those of vision.
"""

from __future__ import annotations

import dataclasses
import fcntl
import functools
import hashlib
import importlib
import os
import pickle
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = "PYTHON_MEASURED_ONCE"
"""Names the folder for commands (:mod:`sitecustomize`). A worker is told no variables but
Python's."""


def measure_once(folder: str) -> None:
    """From now on this process looks into the folder before it measures a file, or runs a model."""
    run_models_once(folder)
    open_to_workers(folder)
    _after_loading("palprep.facts", lambda door: setattr(door, "probe", probing(folder)))


def run_models_once(folder: str) -> None:
    """From now on this process looks into the folder before it runs a model of speech or vision."""
    _after_loading("palprep.vision.models", functools.partial(_seeing, folder))
    for module, model, methods in (
        ("palprep.consent.whisper", "Whisper", ("transcribe", "align", "weigh")),
        ("palprep.consent.moonshine", "Moonshine", ("words",)),
    ):
        _after_loading(module, functools.partial(_listening, folder, model, methods))


def open_to_workers(folder: str) -> None:
    """From now on the workers of this process may write into the folder."""
    _after_loading("palprep.workers.reach", functools.partial(_open, folder))


def _after_loading(name: str, then: Callable[[ModuleType], None]) -> None:
    """Call ``then`` with a module once it is loaded; at once where it is. To load it here would be
    the costliest part of many a command."""
    if name in sys.modules:
        then(sys.modules[name])
    else:
        sys.meta_path.insert(0, _AfterLoading(name, then))


class _AfterLoading:
    def __init__(self, name: str, then: Callable[[ModuleType], None]) -> None:
        self._name, self._then = name, then

    def find_spec(
        self, name: str, path: Sequence[str] | None, _: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._name:
            return None
        spec = PathFinder.find_spec(name, path)
        execute = spec.loader.exec_module

        def executed(module: ModuleType) -> None:
            execute(module)
            self._then(module)

        spec.loader.exec_module = executed
        return spec


def probing(folder: str) -> Callable[..., Any]:
    """:func:`palprep.facts.probe` that looks into the folder first."""

    def remembered(source, role, *, limits, **how):
        names = ("palprep.facts.facts", "palprep.facts.probing")
        reading, measuring = map(importlib.import_module, names)
        asked = (source.sha256, source.type, role, limits, sorted(how.items(), key=str))

        def measured() -> bytes:
            facts = measuring.probe(source, role, limits=limits, **how)
            text = facts.model_dump_json(round_trip=True)
            assert reading.Facts.model_validate_json(text) == facts
            return text.encode()

        facts = reading.Facts.model_validate_json(_kept(folder, repr(asked), measured))
        return facts.model_copy(update={"file": source.facts})

    return remembered


def _open(folder: str, module: ModuleType) -> None:
    of_one = module.Reach.confinement

    def opened(reach: Any, *given: Any) -> Any:
        writes = reach.writes | {Path(folder)}
        return of_one(dataclasses.replace(reach, writes=writes), *given)

    module.Reach.confinement = opened


@dataclasses.dataclass(frozen=True)
class _Sound:
    """Stands for what a model has heard, which is made where a question is new."""

    sha256: str
    heard: Callable[[], Any]


def _listening(folder: str, name: str, methods: Sequence[str], module: ModuleType) -> None:
    model = getattr(module, name)
    hear = model.hear

    def sound(self: Any, samples: Any) -> _Sound:
        content = hashlib.sha256(samples.tobytes()).hexdigest()
        return _Sound(content, functools.cache(functools.partial(hear, self, samples)))

    def remembering(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def remembered(self: Any, sound: Any, *args: Any, **options: Any) -> Any:
            given = (args, sorted(options.items()))
            asked = repr((method.__qualname__, self.sha256, sound.sha256, *given))

            def answer() -> bytes:
                return pickle.dumps(method(self, sound.heard(), *args, **options))

            return pickle.loads(_kept(folder, asked, answer))  # noqa: S301 -- this session wrote it

        return remembered

    model.hear = sound
    for each in methods:
        setattr(model, each, remembering(getattr(model, each)))


LARGE = 64 * 1024
"""Bytes. What a network says in more than that is sooner said again than kept."""


def _seeing(folder: str, module: ModuleType) -> None:
    network = module.Network
    load, run = network.__init__, network.run

    def loading(self: Any, path: Path, outputs: tuple[str, ...]) -> None:
        load(self, path, outputs)
        state = path.stat()
        self.asked = repr((str(path), state.st_size, state.st_mtime_ns, outputs))

    @functools.wraps(run)
    def remembered(self: Any, blob: Any) -> Any:
        asked = hashlib.sha256(f"{self.asked} {blob.dtype} {blob.shape}".encode())
        asked.update(blob.tobytes())
        kept = Path(folder, f"seen-{asked.hexdigest()[:32]}")
        if kept.exists():
            return pickle.loads(kept.read_bytes())  # noqa: S301 -- this session wrote it
        answer = run(self, blob)
        if sum(each.nbytes for each in answer) < LARGE:
            # Whoever finds it finds all of it; two may well make the same.
            making = kept.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
            making.write_bytes(pickle.dumps(answer))
            making.rename(kept)
        return answer

    network.__init__, network.run = loading, remembered


def _kept(folder: str, asked: str, made: Callable[[], bytes]) -> bytes:
    """The answer in the folder; made first, where there is none."""
    path = Path(folder, hashlib.sha256(asked.encode()).hexdigest()[:32])
    # Of those who share the folder one makes it, while the others wait.
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            path.write_bytes(made())
    return path.read_bytes()
