"""Tests of other people that use the plugin, by the names of their files; the longer ones."""

from __future__ import annotations

import textwrap

SOURCES: dict[str, str] = {}
"""Files of tests by their names."""


def theirs(name: str, source: str) -> str:
    """The name of a file of tests, for :func:`ran`."""
    SOURCES[name] = textwrap.dedent(source)
    return name


PROGRAMS = theirs(
    "programs",
    r"""
        import asyncio
        import contextlib
        import subprocess
        import sys
        import threading
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
            elsewhere = palprep_environ["PALPREP_BASE_URL"] + "/not-there"
            environ = palprep_environ | {"PALPREP_BASE_URL": elsewhere}
            refused = pytest.raises(palprep.UsageError, match=f"none answers at {elsewhere}")
            with palprep.Client.from_env(environ) as client, refused:
                client.voices.get("v")

        def test_while_nothing_listens(palprep_environ, tmp_path):
            with palprep.Sandbox(tmp_path, seed={"voices": [{"voice_id": "v"}]}) as gone:
                environ = palprep_environ | {"PALPREP_BASE_URL": gone.url}
            port = int(gone.url.rpartition(":")[2])
            with palprep.Client.from_env(environ) as client, contextlib.ExitStack() as later:
                with pytest.raises(palprep.ServiceUnreachable):
                    client.with_options(retries=0).voices.get("v")
                there = palprep.Sandbox(tmp_path, port=port, clock="virtual")
                threading.Timer(0.7, later.enter_context, [there]).start()
                again = client.with_options(retries=20).voices.get("v")
                assert again.status == "completed"
    """,
)


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


OWN_LOOP = theirs(
    "own_loop",
    r"""
        import asyncio
        import json
        import time
        import palprep
        import pytest

        async def served(seen, act):
            async def take(reader, writer):
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                size = int(head.partition("content-length:")[2].split()[0])
                seen.append(json.loads(await reader.readexactly(size))["status"])
                await act()
                writer.write(b"HTTP/1.1 204 Taken\r\nConnection: close\r\n\r\n")
                await writer.drain()
                writer.close()

            server = await asyncio.start_server(take, "127.0.0.1", 0)
            return server, "http://127.0.0.1:%d" % server.sockets[0].getsockname()[1]

        @pytest.mark.parametrize("way", ["loop", "thread", "client", "sync client", "handler"])
        def test_the_app_and_its_receiver_share_a_loop(palprep_sandbox, palprep_environ, way):
            seen = []

            async def act():
                if way == "handler":
                    palprep_sandbox.advance(60)

            async def go():
                server, url = await served(seen, act)
                media = palprep_sandbox.put_asset("a.wav", b"RIFF$\0\0\0WAVEfmt " + bytes(99))
                async with server, palprep.AsyncClient.from_env() as client:
                    voice = await client.voices.create(
                        voice_name="Ada", training_audio_url=media, callback_url=url
                    )
                    if way == "client":
                        await client.voices.wait(voice.voice_id)
                    elif way == "sync client":
                        with palprep.Client.from_env() as sync:
                            assert sync.voices.wait(voice.voice_id).status == "completed"
                    elif way == "thread":
                        await asyncio.to_thread(palprep_sandbox.advance, 60)
                        assert seen == ["completed"]
                    else:
                        palprep_sandbox.advance(60)
                    async with asyncio.timeout(5):
                        while not palprep_sandbox.log()["callbacks"]:
                            await asyncio.sleep(0.02)

            started = time.monotonic()
            asyncio.run(go())
            assert time.monotonic() - started < 8  # a receiver that does not answer takes 10
            assert seen == ["completed"]
            assert [each["status"] for each in palprep_sandbox.log()["callbacks"]] == [204]
    """,
)


APART = theirs(
    "apart",
    """
        import time
        import palprep
        import pytest

        VOICE = {"voice_name": "Ada", "training_audio_url": "http://127.0.0.1:1/a.wav"}

        def test_one_leaves_a_request(palprep_sandbox, palprep_environ):
            slow = {"on": "request", "endpoint": "voices.create", "delay": 0.4}
            palprep_sandbox.load_faults([slow])
            with palprep.Client.from_env(timeout=0.1) as client:
                with pytest.raises(palprep.OutcomeUnknown):
                    client.voices.create(**VOICE)

        def test_the_next_knows_nothing_of_it(palprep_sandbox, palprep_client):
            time.sleep(0.6)
            assert palprep_client.unspecified.list_voices().data == ()
            log = palprep_sandbox.log()
            assert [each["endpoint"] for each in log["requests"]] == ["voices.list"]
            assert log["creates"] == {}
            palprep_sandbox.reset()
            assert palprep_client.unspecified.list_voices().data == ()
    """,
)
