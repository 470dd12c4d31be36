"""An engine that prepares each file once for a whole test session, for tests of what follows.

The first time the work is really done; later, its output is copied and its report told of
the new place. The cache is a folder, so that runs in processes of their own share it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from pathlib import Path

from palprep.batch.engines.tasks import AssetTask, prepare_asset
from palprep.media.sources import Source
from palprep.preflight import Asset
from palprep.storage import atomic_output
from palprep.workers import Engine


@Engine.register
class Remembering:
    """Works in the calling thread."""

    jobs = 1
    far = False

    def __init__(self, cache: Path | str) -> None:
        self._cache = Path(cache)

    def run(self, function, /, *args, **kwargs):
        if function is prepare_asset:
            return self._asset(*args)
        return function(*args, **kwargs)

    def run_for(self, media_s, function, /, *args, **kwargs):
        """No limit is held here."""
        return self.run(function, *args, **kwargs)

    def complaints(self):
        """Of one machine there are none."""
        return ()

    def close(self, *, at_once: bool = False) -> None:
        """Nothing to end."""

    def _asset(self, task: AssetTask, source: Source) -> Asset:
        name = f"{source.sha256} {task.role} {task.profile} {task.speaker} {Path(task.source).name}"
        kept = self._cache / hashlib.sha256(name.encode()).hexdigest()[:24]
        # Of those who share the cache one does the work, while the others wait.
        with kept.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not kept.with_suffix(".json").exists():
                return self._first(task, source, kept)
        text = kept.with_suffix(".json").read_text()
        first = AssetTask.model_validate(json.loads(text)["task"])
        text = text.replace(first.into, task.into).replace(first.source, task.source)
        asset = Asset.model_validate(json.loads(text)["asset"])
        if asset.prepared is not None:
            Path(task.into).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(kept, asset.prepared.path)
        return asset

    def _first(self, task: AssetTask, source: Source, kept: Path) -> Asset:
        asset = prepare_asset(task, source)
        # Whoever is killed here leaves a whole file or none.
        if asset.prepared is not None:
            with atomic_output(kept, lasting=False) as new:
                shutil.copyfile(asset.prepared.path, new)
        told = {"task": task.to_json(), "asset": asset.model_dump(mode="json", round_trip=True)}
        with atomic_output(kept.with_suffix(".json"), lasting=False) as new:
            new.write_text(json.dumps(told))
        return asset
