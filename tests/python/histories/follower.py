"""The versions of a table by a reader of its own: JSON, Parquet, and deletion vectors as the protocol has them."""

from __future__ import annotations

import base64
import json
import struct
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow.parquet as pq
import pyroaring
from history import Version
from operations import Operation, Rows

if TYPE_CHECKING:
    from pathlib import Path

# alphabets of base 85: of Python's `b85decode`, and Z85 of the protocol
_PYTHONS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_TO_PYTHONS = str.maketrans(_Z85, _PYTHONS)
_VECTOR_MAGIC = 1681511377


class Follower:
    """Reads the commits of a table one after the other, and each data file once, soon after it was added.

    Nothing of deltaic is in it. Files that a vacuum takes were read by then, if it keeps them for a few seconds.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.versions: list[Version] = []
        self._rows: Rows = Counter()
        self._files: dict[tuple[str, str], Rows] = {}

    def follow(self) -> int:
        """Reads what is new; the newest version."""
        while True:
            commit = self.path / "_delta_log" / f"{len(self.versions):020}.json"
            if not commit.exists():
                return len(self.versions) - 1
            self._apply([json.loads(line) for line in commit.read_text().splitlines() if line])

    def _apply(self, actions: list[dict[str, Any]]) -> None:
        rows = self._rows.copy()
        for remove in (action["remove"] for action in actions if "remove" in action):
            rows.subtract(self._files.pop(_key(remove)))
        for add in (action["add"] for action in actions if "add" in action):
            held = self._read(add)
            assert self._files.setdefault(_key(add), held) is held, f"added twice: {add['path']}"
            rows.update(held)
        self._rows = +rows
        info: dict[str, Any] = next((a["commitInfo"] for a in actions if "commitInfo" in a), {})
        said = json.loads(info.get("userMetadata") or "{}")
        self.versions.append(
            Version(
                len(self.versions),
                self._rows,
                info.get("operation", ""),
                said.get("txn"),
                Operation(said["kind"], said["given"]) if "kind" in said else None,
                info.get("isBlindAppend"),
                info.get("readVersion"),
            )
        )

    def _read(self, add: dict[str, Any]) -> Rows:
        file = pq.ParquetFile(self.path / unquote(add["path"])).read()
        partition = add["partitionValues"].get("p")
        held = [
            (row["p"] if partition is None else int(partition), row["id"], row["n"])
            for row in file.to_pylist()
        ]
        vector = add.get("deletionVector")
        gone = set() if vector is None else self._deleted(vector)
        return Counter(row for number, row in enumerate(held) if number not in gone)

    def _deleted(self, vector: dict[str, Any]) -> set[int]:
        """The row numbers that a deletion vector has."""
        text = vector["pathOrInlineDv"]
        if vector["storageType"] == "i":
            data = _base85(text)[: vector["sizeInBytes"]]
        else:
            assert vector["storageType"] == "u", vector
            prefix, uuid = text[:-20], _base85(text[-20:]).hex()
            dashed = "-".join((uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:]))
            whole = (self.path / prefix / f"deletion_vector_{dashed}.bin").read_bytes()
            start = vector["offset"]
            (size,) = struct.unpack_from(">i", whole, start)
            assert size == vector["sizeInBytes"], vector
            data = whole[start + 4 : start + 4 + size]
        (magic,) = struct.unpack_from("<i", data)
        assert magic == _VECTOR_MAGIC, vector
        found = set(pyroaring.BitMap64.deserialize(data[4:]))
        assert len(found) == vector["cardinality"], vector
        return found


def _key(action: dict[str, Any]) -> tuple[str, str]:
    vector = action.get("deletionVector")
    of = "" if vector is None else f"{vector['storageType']}{vector['pathOrInlineDv']}@{vector.get('offset')}"
    return action["path"], of


def _base85(text: str) -> bytes:
    return base64.b85decode(text.translate(_TO_PYTHONS))
