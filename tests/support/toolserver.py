"""A small real server of the Model Context Protocol on loopback; for tests."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn


class ToolServer:
    """Two tools; ``called`` counts the calls of either, which must stay at zero."""

    def __init__(self) -> None:
        self.called = 0
        self.url = ""

    def look_up(self, order: str) -> str:
        """Look up an order."""
        self.called += 1
        return order

    def cancel(self, order: str) -> str:
        """Cancel an order."""
        self.called += 1
        return order


@contextmanager
def serving_tools() -> Iterator[ToolServer]:
    # Loaded by the worker that serves, and not by all that collect.
    from mcp.server.mcpserver import MCPServer  # noqa: PLC0415

    tools = ToolServer()
    protocol = MCPServer("orders", log_level="WARNING")
    protocol.tool()(tools.look_up)
    protocol.tool()(tools.cancel)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        tools.url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        server = uvicorn.Server(
            uvicorn.Config(protocol.streamable_http_app(), log_config=None, ws="none")
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield tools
        finally:
            server.should_exit = True
            thread.join()
