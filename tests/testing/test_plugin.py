"""The plugin in a pytest of its own, as other people's tests use it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from foreign import APART, CALLBACKS, OWN_LOOP, PROGRAMS, SOURCES, theirs

from palprep.sandbox.control import CONTROLS


def run_pytest(checkout: Path, folder: Path, **sources: str) -> tuple[Counter[str], str]:
    """How many tests of each file pass, with palprep's plugin and no other but one for async
    tests; and what pytest says. Nothing that an extra brings can be imported."""
    extras = ["mcp", "httpx2", "distributed", "pandas"]
    hidden = f"import sys\nsys.modules.update(dict.fromkeys({extras}))"
    (folder / "conftest.py").write_text(hidden)
    for name, source in sources.items():
        (folder / f"test_{name}.py").write_text(source)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-Werror", "-ppalprep.testing.plugin", "-panyio"],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(checkout / "src"),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    return Counter(re.findall(r"^test_(\w+)\.py::.* PASSED", said, re.MULTILINE)), said


@pytest.fixture(scope="module")
def ran(checkout, tmp_path_factory):
    """All files in one run: how many tests of one pass, and what pytest says."""
    examples = {f"page_{at}": each for at, each in enumerate(documented(checkout)[0])}
    passed, said = run_pytest(checkout, tmp_path_factory.mktemp("theirs"), **SOURCES, **examples)
    return lambda name: (passed[name], said)


def test_it_is_registered_where_palprep_is_installed(checkout: Path) -> None:
    project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"palprep": "palprep.testing.plugin"}


PLAIN = theirs(
    "plain",
    """
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
    """,
)


def test_a_sandbox_and_a_client_without_sleep(ran) -> None:
    passed, said = ran(PLAIN)
    assert passed == 3, said


AWAITED = theirs(
    "awaited",
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
)


def test_an_async_client_under_asyncio_and_trio(ran) -> None:
    passed, said = ran(AWAITED)
    assert passed >= 2, said
    assert "FAILED test_awaited" not in said


OPTIONS = theirs(
    "options",
    """
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
    """,
)


def test_options_are_fixtures_to_override(ran) -> None:
    passed, said = ran(OPTIONS)
    assert passed == 2, said


def test_clients_of_the_program_follow_the_clock(ran) -> None:
    passed, said = ran(PROGRAMS)
    assert passed == 5, said


def test_time_is_moved_on_the_loop_that_receives(ran) -> None:
    passed, said = ran(OWN_LOOP)
    assert passed == 5, said


def test_what_an_earlier_test_left_is_told_apart(ran) -> None:
    passed, said = ran(APART)
    assert passed == 2, said


def test_time_is_moved_while_a_callback_is_received(ran) -> None:
    passed, said = ran(CALLBACKS)
    assert passed == 2, said


SCOPES = theirs(
    "scopes",
    """
        import threading
        import pytest

        @pytest.fixture
        def palprep_sandbox_options():
            return {"trainer": lambda kind, paths: None}

        @pytest.mark.parametrize("time", range(8))
        def test_own(palprep_sandbox, time):
            names = [each.name for each in threading.enumerate()]
            assert 1 <= names.count("palprep-sandbox") <= 3
    """,
)


MODULE = theirs(
    "module",
    """
        import pytest
        from palprep import Client

        @pytest.fixture(scope="module")
        def voice(palprep_module_sandbox):
            palprep_module_sandbox.seed({"voices": [{"voice_id": "v"}]})
            return "v"

        @pytest.mark.parametrize("time", range(2))
        def test_shared(palprep_module_sandbox, voice, time):
            sandbox = palprep_module_sandbox
            with Client(api_key=sandbox.user_key, base_url=sandbox.url) as client:
                assert client.voices.get(voice).status == "completed"
    """,
)


SESSION = theirs(
    "session",
    """
        import pytest

        before = []

        @pytest.mark.parametrize("time", range(2))
        def test_session(palprep_session_sandbox, palprep_module_sandbox, palprep_sandbox, time):
            sandbox = palprep_session_sandbox
            assert len({sandbox.url, palprep_module_sandbox.url, palprep_sandbox.url}) == 3
            assert before in ([], [sandbox.now()])
            sandbox.advance(5000)
            before[:] = [sandbox.now()]
    """,
)


def test_no_scope_leaks_servers_and_a_module_may_have_one(ran) -> None:
    for name, tests in ((SCOPES, 8), (MODULE, 2), (SESSION, 2)):
        passed, said = ran(name)
        assert passed == tests, said


LIGHT = """
import sys

def test_light():
    loaded = {name for name in sys.modules if name.startswith("palprep")}
    assert loaded == {
        "palprep", "palprep._version", "palprep.testing", "palprep.testing.plugin"
    }
    assert not {"httpx", "starlette", "pydantic", "PIL", "numpy"} & sys.modules.keys()
"""


def test_nothing_of_palprep_is_loaded_before_a_fixture_is_used(checkout, tmp_path) -> None:
    passed, said = run_pytest(checkout, tmp_path, light=LIGHT)
    assert passed["light"] == 1, said


def documented(checkout: Path) -> tuple[list[str], list[str]]:
    """The blocks of Python of the page: tests, and programs."""
    page = (checkout / "docs/sandbox.md").read_text()
    blocks = re.findall(r"^```python$(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    tests = [block for block in blocks if "def test_" in block]
    return tests, [block for block in blocks if block not in tests]


def test_the_examples_of_the_page_pass(ran, checkout: Path) -> None:
    """With what every installation has: :func:`run_pytest` hides what an extra brings."""
    tests, _ = documented(checkout)
    assert len(tests) == 6
    for number in range(6):
        passed, said = ran(f"page_{number}")
        assert passed == 1, said


def test_the_programs_of_the_page_run(checkout: Path) -> None:
    _, programs = documented(checkout)
    assert programs
    for program in programs:
        command = [sys.executable, "-W", "error", "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "()\n"), done.stderr


def test_the_page_names_every_route_and_every_method(checkout: Path) -> None:
    page = (checkout / "docs/sandbox.md").read_text()
    methods = ["now", *(name for name in CONTROLS if not name.startswith("_"))]
    assert len(methods) >= 11
    assert [name for name in methods if f"| `{name}(" not in page] == []
    routes = {offer.path.replace(":int", "") for offer in CONTROLS.values()}
    assert len(routes) >= 10
    named = page.replace("{id}", "{}").replace("{number}", "{}").replace("{name}", "{}")
    missing = [r for r in routes if f"/_sandbox{re.sub(r'{[^}]*}', '{}', r)}`" not in named]
    assert missing == []
