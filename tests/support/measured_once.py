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
import inspect
import pickle
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType, SimpleNamespace
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

    def hearing(model: str, *methods: str) -> Callable[[ModuleType], None]:
        def changed(module: ModuleType) -> None:
            _opening(folder, module)
            _listening(folder, getattr(module, model), methods)

        return changed

    opening = functools.partial(_opening, folder)
    _after_loading("palprep.networks.weights", opening)
    _after_loading("palprep.vision.models", opening)
    _after_loading("palprep.consent.whisper", hearing("Whisper", "transcribe", "align", "weigh"))
    _after_loading("palprep.consent.moonshine", hearing("Moonshine", "words"))


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

    def remembered(source, role, **how):
        names = ("palprep.facts.facts", "palprep.facts.probing")
        reading, measuring = map(importlib.import_module, names)
        asked = (source.sha256, source.type, role, sorted(how.items(), key=str))

        def measured() -> bytes:
            facts = measuring.probe(source, role, **how)
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


def _listening(folder: str, model: Any, methods: Sequence[str]) -> None:
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


def _opening(folder: str, module: ModuleType) -> None:
    opened = inspect.unwrap(module.open_network)

    @functools.wraps(opened)
    def standing_for(model: Path | bytes, **how: Any) -> RememberedNetwork:
        state = model.stat() if isinstance(model, Path) else None
        content = (state.st_size, state.st_mtime_ns) if state else hashlib.sha256(model).hexdigest()
        asked = f"{model if state else ''} {content}"
        return RememberedNetwork(folder, asked, functools.cache(lambda: opened(model, **how)))

    module.open_network = standing_for


class RememberedNetwork:
    """Stands for a network, which is loaded where a question is new: to load it takes longer than
    most of its answers."""

    def __init__(self, folder: str, asked: str, opened: Callable[[], Any]) -> None:
        self._folder, self._asked, self._opened = folder, asked, opened

    def run(self, outputs: Sequence[str] | None, given: dict[str, Any]) -> Any:
        """What is asked with what came before is another question each time; and what a decoder
        looks up is larger than all else."""
        if len(given) > 1 or "encoded" in given:
            return self.run_anew(outputs, given)
        [(name, array)] = given.items()
        sha256 = hashlib.sha256(array.tobytes()).hexdigest()
        asked = f"{outputs} {name} {array.dtype} {array.shape} {sha256}"
        return self._told(asked, lambda network: network.run(outputs, given))

    def run_anew(self, outputs: Sequence[str] | None, given: dict[str, Any]) -> Any:
        return self._opened().run(outputs, given)

    def get_inputs(self) -> Any:
        return self._told("inputs", lambda network: [*map(_described, network.get_inputs())])

    def get_outputs(self) -> Any:
        return self._told("outputs", lambda network: [*map(_described, network.get_outputs())])

    def get_modelmeta(self) -> Any:
        told = self._told("metadata", lambda network: network.get_modelmeta().custom_metadata_map)
        return SimpleNamespace(custom_metadata_map=told)

    def _told(self, asked: str, told: Callable[[Any], Any]) -> Any:
        answer = _kept(
            self._folder, f"{self._asked} {asked}", lambda: pickle.dumps(told(self._opened()))
        )
        return pickle.loads(answer)  # noqa: S301 -- this session wrote it


def _described(entry: Any) -> SimpleNamespace:
    return SimpleNamespace(name=entry.name, shape=entry.shape, type=entry.type)


def _kept(folder: str, asked: str, made: Callable[[], bytes]) -> bytes:
    """The answer in the folder; made first, where there is none."""
    path = Path(folder, hashlib.sha256(asked.encode()).hexdigest()[:32])
    # Of those who share the folder one makes it, while the others wait.
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            path.write_bytes(made())
    return path.read_bytes()
