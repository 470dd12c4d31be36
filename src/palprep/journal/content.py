"""Long bodies of entries: compressed, and kept once however many entries hold the same."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib

SCHEMA = """
CREATE TABLE IF NOT EXISTS content (
    sha256 BLOB PRIMARY KEY,
    zipped BLOB NOT NULL
);
CREATE TRIGGER IF NOT EXISTS content_stays BEFORE UPDATE ON content
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS content_remains BEFORE DELETE ON content
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
"""

LONG = 1024
"""Characters. The reports of files are longer; what is said of a creation is shorter."""


def put(connection: sqlite3.Connection, text: str) -> bytes:
    """Keep a text, and return its SHA-256."""
    data = text.encode()
    sha256 = hashlib.sha256(data).digest()
    connection.execute(
        "INSERT INTO content VALUES (?, ?) ON CONFLICT DO NOTHING", (sha256, zlib.compress(data))
    )
    return sha256


def unzipped(zipped: bytes) -> str:
    """The text of a stored content."""
    return zlib.decompress(zipped).decode()
