from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from palprep.errors import ToolMissing
from palprep.networks import Weights, read_manifest
from palprep.vision.models import Models

SHIPPED = Path(str(resources.files("palprep.vision"))) / "weights"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation without files."""
    monkeypatch.setattr(Weights, "_installed", lambda _: tmp_path)
    return tmp_path


def test_a_changed_file_is_refused_before_it_is_parsed(installed: Path) -> None:
    name = read_manifest("palprep.vision")["detector"].file
    data = bytearray((SHIPPED / name).read_bytes())
    data[1000] ^= 1
    (installed / name).write_bytes(bytes(data))
    with pytest.raises(ToolMissing, match="damaged"):
        _ = Models().detector


@pytest.mark.usefixtures("installed")
def test_a_missing_file_is_named() -> None:
    with pytest.raises(ToolMissing, match=r"age-mobilenet\.onnx is missing"):
        _ = Models().age
    assert all(entry.problem() for entry in read_manifest("palprep.vision").values())


def test_a_network_needs_its_own_file_alone(installed: Path) -> None:
    name = read_manifest("palprep.vision")["mask"].file
    shutil.copy(SHIPPED / name, installed / name)
    found = Models().mask.run(np.zeros((1, 3, 256, 256), np.float32))
    assert found[0].shape == (1, 1, 256, 256)


def test_a_network_is_loaded_once() -> None:
    models = Models()
    # Threads come here together: since Python 3.12 a cached property holds none of them back.
    assert models.network("age", "probabilities") is models.age


def test_nothing_is_left_for_anybody_to_be_told(tmp_path: Path) -> None:
    program = "from palprep.vision.models import Models; Models().mask"
    own = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    given = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", program], env={**given, **own}, check=True)
    assert list(tmp_path.iterdir()) == []


def test_a_network_gives_each_thread_its_own_answer(models: Models) -> None:
    rng = np.random.default_rng(0)
    inputs = [rng.random((1, 3, 256, 256), np.float32) for _ in range(4)]
    alone = [models.landmarks.run(each)[0] for each in inputs]
    together: dict[int, object] = {}

    def work(index: int) -> None:
        for _ in range(3):
            together[index] = models.landmarks.run(inputs[index])[0]

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index, expected in enumerate(alone):
        np.testing.assert_allclose(together[index], expected, rtol=1e-4, atol=1e-3)
