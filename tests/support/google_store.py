"""A double of Google Cloud Storage: the part of its XML API that publishing speaks.

obstore needs PUT and HEAD of the XML API, and tags. `gcp-storage-emulator` (PyPI) answers no HEAD
and sends no tags; the storage emulator of `firebase-tools` (npm) takes files by the JSON API alone;
neither looks at a signature, and neither does `fake-gcs-server` (a program in Go). This one checks
what Google does: that a request carries a token of the service account, and that a link was signed
with the account's key (V4 signing process, "Canonical requests") and has not ended.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

ACCOUNT = "palprep@example.iam.gserviceaccount.com"
BUCKET = "media"
HOST = "storage.googleapis.com"
"""What links are signed for, whatever address the account's key names."""


@contextlib.contextmanager
def google_bucket(home: Path) -> Iterator[Path]:
    """The JSON key of a service account that may use the empty bucket ``media``."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    server = _Store(key.public_key())
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield write_account(home / "account.json", key, server.server_port)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def write_account(path: Path, key: rsa.RSAPrivateKey, port: int) -> Path:
    """A service account's JSON key, as Google's console gives it, for a server here."""
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    account = {
        "type": "service_account",
        "client_email": ACCOUNT,
        "private_key": pem.decode(),
        "private_key_id": "1",
        "gcs_base_url": f"http://127.0.0.1:{port}",
    }
    path.write_text(json.dumps(account))
    return path


class _Store(http.server.ThreadingHTTPServer):
    def __init__(self, public: rsa.RSAPublicKey) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.public = public
        self.stored: dict[str, tuple[bytes, str]] = {}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Store

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self._may():
            return self._answer(HTTPStatus.FORBIDDEN, _error("AccessDenied"))
        if not self._name.startswith(f"/{BUCKET}/"):
            return self._answer(HTTPStatus.NOT_FOUND, _error("NoSuchBucket"))
        self.server.stored[self._name] = (body, self.headers["Content-Type"])
        return self._answer(HTTPStatus.OK, b"", etag=_tag(body))

    def do_GET(self) -> None:
        if not self._may():
            return self._answer(HTTPStatus.FORBIDDEN, _error("AccessDenied"))
        if self._name not in self.server.stored:
            return self._answer(HTTPStatus.NOT_FOUND, _error("NoSuchKey"))
        body, mime = self.server.stored[self._name]
        return self._answer(HTTPStatus.OK, body, etag=_tag(body), mime=mime)

    do_HEAD = do_GET  # noqa: N815 -- http.server's name

    @property
    def _name(self) -> str:
        return unquote(urlsplit(self.path).path)

    def _may(self) -> bool:
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if scheme == "Bearer":
            signed, _, signature = token.rpartition(".")
            binary = base64.urlsafe_b64decode(signature + "==")
            return _is_signed(self.server.public, signed, binary)
        return _is_signed_link(self.server.public, self.command, self.path)

    def _answer(
        self, status: HTTPStatus, body: bytes, etag: str = "", mime: str = "application/xml"
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", mime)
        self.send_header("Last-Modified", "Sun, 22 Nov 2026 10:00:00 GMT")
        self.send_header("ETag", etag)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _error(code: str) -> bytes:
    return f"<?xml version='1.0'?><Error><Code>{code}</Code></Error>".encode()


def _tag(body: bytes) -> str:
    return f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'


def _is_signed_link(public: rsa.RSAPublicKey, method: str, path: str) -> bool:
    target, _, query = path.partition("?")
    unsigned, _, signature = query.rpartition("&X-Goog-Signature=")
    asked = {name: values[0] for name, values in parse_qs(unsigned).items()}
    if not signature or asked.get("X-Goog-SignedHeaders") != "host":
        return False
    account, _, scope = asked["X-Goog-Credential"].partition("/")
    begins = datetime.strptime(asked["X-Goog-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    lasts = timedelta(seconds=int(asked["X-Goog-Expires"]))
    if account != ACCOUNT or lasts > timedelta(days=7) or datetime.now(UTC) > begins + lasts:
        return False
    canonical = f"{method}\n{target}\n{unsigned}\nhost:{HOST}\n\nhost\nUNSIGNED-PAYLOAD"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    text = "\n".join(("GOOG4-RSA-SHA256", asked["X-Goog-Date"], scope, digest))
    return _is_signed(public, text, bytes.fromhex(signature))


def _is_signed(public: rsa.RSAPublicKey, text: str, signature: bytes) -> bool:
    try:
        public.verify(signature, text.encode(), padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        return False
    return True
