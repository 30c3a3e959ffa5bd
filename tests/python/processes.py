"""Which tests share a process of pytest-xdist: those of a file, and the files that need the same server.

A peer or a server of Spark Connect is a JVM, and each process that needs one starts its own.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from xdist.scheduler import LoadFileScheduling

_FOLDERS = {"interop": "delta-spark", "spark_connect": "Spark Connect"}
# in other folders, files with tests by a door of Spark Connect
_FILES = {
    "test_allowed_locations",
    "test_deletion_vectors",
    "test_replace",
    "test_sessions_of_server",
    "test_sql_apis",
    "test_stream_connect",
    "test_zones",
}


class ByServer(LoadFileScheduling):
    """As `loadfile`, but with the files of a server together."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return server_of(file) or file


def server_of(file: str) -> str | None:
    """The server that the tests of a file need."""
    path = PurePosixPath(file)
    for folder, server in _FOLDERS.items():
        if folder in path.parts:
            return server
    return _FOLDERS["spark_connect"] if path.stem in _FILES else None
