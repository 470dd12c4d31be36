"""The plugin in a pytest of its own, as other people's tests use it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import httpx
import pytest

from palprep.sandbox import Sandbox
from palprep.sandbox.control import CONTROLS


@pytest.fixture
def run(checkout, tmp_path):
    """Run pytest on test files with palprep's plugin and no other but one for async tests."""

    def run_pytest(*sources: str, asynchronous: bool = False) -> str:
        for number, source in enumerate(sources):
            (tmp_path / f"test_theirs_{number}.py").write_text(textwrap.dedent(source))
        plugins = ["palprep.testing.plugin", *(["anyio"] if asynchronous else [])]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-Werror", *(f"-p{name}" for name in plugins)],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(checkout / "src"),
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    return run_pytest


def test_it_is_registered_where_palprep_is_installed(checkout: Path) -> None:
    project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"palprep": "palprep.testing.plugin"}


def test_a_sandbox_and_a_client_without_sleep(run) -> None:
    said = run("""
        import time

        def test_one(palprep_sandbox, palprep_client):
            started = time.monotonic()
            url = palprep_sandbox.put_asset("a.wav", b"RIFF$\\0\\0\\0WAVEfmt " + bytes(99))
            voice = palprep_client.voices.create(voice_name="Ada", training_audio_url=url)
            assert palprep_client.voices.wait(voice.voice_id).status == "completed"
            replica = palprep_client.replicas.create(train_video_url=url)
            waited = palprep_client.unspecified.wait_replica(replica.replica_id)
            assert waited.status == "completed"
            assert time.monotonic() - started < 30

        def test_two(palprep_sandbox, palprep_client):
            assert palprep_client.unspecified.list_voices().data == ()
            assert len(palprep_sandbox.log()["requests"]) == 1
            palprep_sandbox.load_faults([{"on": "request", "status": 503, "times": None}])

        def test_three(palprep_client):
            assert palprep_client.unspecified.list_voices().data == ()
    """)
    assert "3 passed" in said, said


def test_an_async_client_under_asyncio_and_trio(run) -> None:
    said = run(
        """
        import pytest

        pytestmark = pytest.mark.anyio

        @pytest.mark.parametrize("name", ["Ada", "Grace"])
        async def test_one(palprep_sandbox, palprep_async_client, name):
            url = palprep_sandbox.put_asset("a.wav", b"RIFF$\\0\\0\\0WAVEfmt " + bytes(99))
            created = await palprep_async_client.voices.create(
                voice_name=name, training_audio_url=url
            )
            voice = await palprep_async_client.voices.wait(created.voice_id)
            assert (voice.voice_name, voice.status) == (name, "completed")
        """,
        asynchronous=True,
    )
    passed = re.search(r"(\d+) passed", said)
    assert passed, said
    assert int(passed[1]) >= 2
    assert "failed" not in said


def test_options_are_fixtures_to_override(run) -> None:
    said = run("""
        import pytest
        from palprep.errors import UnexpectedReply

        @pytest.fixture(scope="session")
        def palprep_sandbox_options():
            return {"seed": {"voices": [{"voice_id": "v", "mood": "cheerful"}]}}

        @pytest.fixture(scope="session")
        def palprep_client_options():
            return {"strict": True}

        @pytest.mark.parametrize("time", [1, 2])
        def test_seeded(palprep_client, time):
            with pytest.raises(UnexpectedReply, match="mood"):
                palprep_client.voices.get("v")
    """)
    assert "2 passed" in said, said


def test_nothing_of_palprep_is_loaded_before_a_fixture_is_used(run) -> None:
    said = run("""
        import sys

        def test_light():
            loaded = {name for name in sys.modules if name.startswith("palprep")}
            assert loaded == {
                "palprep", "palprep._version", "palprep.testing", "palprep.testing.plugin"
            }
            assert not {"httpx", "starlette", "pydantic", "PIL", "numpy"} & sys.modules.keys()
    """)
    assert "1 passed" in said, said


def documented(checkout: Path) -> tuple[list[str], list[str]]:
    """The blocks of Python of the page: tests, and programs."""
    page = (checkout / "docs/sandbox.md").read_text()
    blocks = re.findall(r"^```python$(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    tests = [block for block in blocks if "def test_" in block]
    return tests, [block for block in blocks if block not in tests]


def test_the_examples_of_the_page_pass(run, checkout: Path) -> None:
    tests, _ = documented(checkout)
    said = run(*tests)
    assert len(tests) == 5
    assert "5 passed" in said, said


def test_the_programs_of_the_page_run(checkout: Path) -> None:
    _, programs = documented(checkout)
    assert programs
    for program in programs:
        command = [sys.executable, "-W", "error", "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "()\n"), done.stderr


def test_the_page_names_every_route_and_every_method(checkout: Path) -> None:
    page = (checkout / "docs/sandbox.md").read_text()
    with Sandbox() as sandbox:
        index = httpx.get(sandbox.url, trust_env=False).json()
    assert index["log"] in page
    methods = ["now", *(name for name in CONTROLS if not name.startswith("_"))]
    assert len(methods) >= 12
    assert [name for name in methods if f"| `{name}(" not in page] == []
    routes = {offer.route.path.replace(":int", "") for offer in CONTROLS.values()}
    assert len(routes) >= 11
    named = page.replace("{id}", "{}").replace("{number}", "{}").replace("{name}", "{}")
    missing = [r for r in routes if f"/_sandbox{re.sub(r'{[^}]*}', '{}', r)}`" not in named]
    assert missing == []
