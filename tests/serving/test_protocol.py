"""One connection: an answer leaves in one piece."""

from __future__ import annotations

import asyncio

from palprep.serving.protocol import GatheringTransport


class Recorded(asyncio.Transport):
    """What reached the socket, write by write."""

    def __init__(self) -> None:
        super().__init__(extra={"peername": "me"})
        self.done: list[bytes | str] = []

    def write(self, data: bytes) -> None:  # type: ignore[override]
        self.done.append(data)

    def close(self) -> None:
        self.done.append("close")

    def get_write_buffer_size(self) -> int:
        return 0

    def abort(self) -> None:
        self.done.append("abort")


async def test_head_and_body_are_written_at_once() -> None:
    socket = Recorded()
    transport = GatheringTransport(socket, asyncio.get_running_loop(), within_s=1)
    for answer in (b"1", b"2"):
        transport.write(b"head")
        transport.write(b"body" + answer)
        transport.write(b"")
        assert answer not in b"".join(each[-1:] for each in socket.done)
        await asyncio.sleep(0)
    assert socket.done == [b"headbody1", b"headbody2"]
    assert transport.get_extra_info("peername") == "me"


async def test_much_is_written_without_waiting() -> None:
    socket = Recorded()
    transport = GatheringTransport(socket, asyncio.get_running_loop(), within_s=1)
    large = bytes(70_000)
    transport.write(b"head")
    transport.write(large)
    assert socket.done == [b"head" + large]
    await asyncio.sleep(0)
    assert len(socket.done) == 1


async def test_closing_writes_what_is_held_and_aborting_does_not() -> None:
    closed, aborted = Recorded(), Recorded()
    for socket, end in ((closed, "close"), (aborted, "abort")):
        transport = GatheringTransport(socket, asyncio.get_running_loop(), within_s=1)
        transport.write(b"body")
        getattr(transport, end)()
    await asyncio.sleep(0)
    assert closed.done == [b"body", "close"]
    assert aborted.done == ["abort"]
