"""The plugin in a pytest of its own, as other people's tests use it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import tomllib
from collections import Counter
from pathlib import Path

import httpx
import pytest

from palprep.sandbox import Sandbox
from palprep.sandbox.control import CONTROLS

SOURCES: dict[str, str] = {}
"""Files of tests by their names."""


def theirs(name: str, source: str) -> str:
    """The name of a file of tests, for :func:`ran`."""
    SOURCES[name] = textwrap.dedent(source)
    return name


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


PROGRAMS = theirs(
    "programs",
    r"""
        import asyncio
        import subprocess
        import sys
        import time
        import palprep
        import pytest

        LATER = {"on": "request", "endpoint": "voices.get", "status": 429,
                 "headers": {"Retry-After": "59"}}
        WAV = b"RIFF$\0\0\0WAVEfmt " + bytes(99)

        def created(sandbox):
            sandbox.load_faults([LATER])
            return {"voice_name": "Ada", "training_audio_url": sandbox.put_asset("a.wav", WAV)}

        def test_sync(palprep_sandbox, palprep_environ):
            started, before = time.monotonic(), palprep_sandbox.now()
            with palprep.Client.from_env() as client:
                voice = client.voices.create(**created(palprep_sandbox))
                assert client.voices.wait(voice.voice_id).status == "completed"
            assert palprep_sandbox.now() - before >= 59
            assert time.monotonic() - started < 20

        def test_async(palprep_sandbox, palprep_environ):
            async def go():
                async with palprep.AsyncClient.from_env() as client:
                    voice = await client.voices.create(**created(palprep_sandbox))
                    return (await client.voices.wait(voice.voice_id)).status
            assert asyncio.run(go()) == "completed"

        def test_another_process(palprep_sandbox, palprep_environ):
            palprep_sandbox.seed({"voices": [{"voice_id": "v"}]})
            palprep_sandbox.load_faults([LATER])
            program = "import palprep; print(palprep.Client.from_env().voices.wait('v').status)"
            said = subprocess.run(
                [sys.executable, "-c", program], timeout=50, capture_output=True, check=True
            )
            assert said.stdout.split() == [b"completed"]

        def test_where_no_sandbox_tells_it(palprep_environ):
            elsewhere = palprep_environ | {"PALPREP_BASE_URL": "http://127.0.0.1:1"}
            refused = pytest.raises(palprep.UsageError, match="none answers at http://127.0.0.1:1")
            with palprep.Client.from_env(elsewhere) as client, refused:
                client.voices.get("v")
    """,
)


def test_clients_of_the_program_follow_the_clock(ran) -> None:
    passed, said = ran(PROGRAMS)
    assert passed == 4, said


CALLBACKS = theirs(
    "callbacks",
    r"""
        import http.server
        import threading
        import time
        from datetime import UTC, datetime
        import pytest

        BEGIN = datetime(2030, 1, 1, tzinfo=UTC)

        @pytest.fixture(scope="session")
        def palprep_sandbox_options():
            return {"start": BEGIN}

        def voice(sandbox, client, **more):
            url = sandbox.put_asset("a.wav", b"RIFF$\0\0\0WAVEfmt " + bytes(99))
            return client.voices.create(voice_name="Ada", training_audio_url=url, **more).voice_id

        @pytest.fixture
        def received(palprep_sandbox, palprep_client):
            seen = []

            class Receiver(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    self.rfile.read(int(self.headers["content-length"]))
                    seen.append(self.act())
                    self.send_response(204)
                    self.end_headers()

                def log_message(self, *_):
                    pass

            with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
                thread = threading.Thread(target=server.serve_forever)
                thread.start()

                def create(act):
                    Receiver.act = lambda _: act()
                    url = f"http://127.0.0.1:{server.server_port}/"
                    return voice(palprep_sandbox, palprep_client, callback_url=url)

                yield create, seen
                server.shutdown()
                thread.join()

        def test_by_waiting_in_a_handler(palprep_sandbox, palprep_client, received):
            create, seen = received
            assert palprep_sandbox.now() == BEGIN.timestamp()

            def wait_for_another():
                other = voice(palprep_sandbox, palprep_client)
                return palprep_client.voices.wait(other).status

            create(wait_for_another)
            started = time.monotonic()
            palprep_sandbox.advance(3600)
            assert time.monotonic() - started < 8
            assert seen == ["completed"]
            assert [each["status"] for each in palprep_sandbox.log()["callbacks"]] == [204]
            assert palprep_sandbox.now() == BEGIN.timestamp() + 3600

        def test_and_everything_forgotten(palprep_sandbox, received):
            create, seen = received
            assert palprep_sandbox.now() == BEGIN.timestamp()
            create(palprep_sandbox.reset)
            palprep_sandbox.advance(3600)
            assert seen == [None]
            assert palprep_sandbox.log() == {"requests": [], "callbacks": [], "creates": {}}
            create(lambda: "again")
            palprep_sandbox.advance(3600)
            assert seen == [None, "again"]
    """,
)


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


def test_no_scope_leaks_servers_and_a_module_may_have_one(ran) -> None:
    for name, tests in ((SCOPES, 8), (MODULE, 2)):
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
