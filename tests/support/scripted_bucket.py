"""A server on loopback that answers as a cloud's documentation says, where no real one does."""

from __future__ import annotations

import contextlib
import http.server
import threading
from collections.abc import Iterator
from http import HTTPStatus

XML = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>m</Message></Error>'
)


@contextlib.contextmanager
def answering(status: int, code: str) -> Iterator[str]:
    """The address of a server that answers every request with this error."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = b"" if self.command == "HEAD" else XML.format(code=code).encode()
            self.send_response(HTTPStatus(status))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_PUT = do_HEAD = do_POST = answer  # noqa: N815 -- http.server's names

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
