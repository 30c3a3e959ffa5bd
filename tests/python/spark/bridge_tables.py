"""Tables for the tests of the bridge, made by `deltalake` or written down action by action."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import write_deltalake

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def append(path: Path, rows: dict[str, Any], partition_by: list[str] | None = None) -> None:
    """One commit of `deltalake`."""
    write_deltalake(str(path), pa.table(rows), mode="append", partition_by=partition_by)


def numbers(path: Path, commits: int = 3, *, partitioned: bool = False) -> Path:
    """`commits` versions of ten rows each: `id` from 0 on, `p` = `id % 5` as text, `x` = `id / 2`."""
    for i in range(commits):
        ids = list(range(i * 10, i * 10 + 10))
        rows = {"id": pa.array(ids, pa.int64()), "p": [str(n % 5) for n in ids], "x": [n / 2 for n in ids]}
        append(path, rows, ["p"] if partitioned else None)
    return path


def data_files(path: Path) -> set[str]:
    """All files of a table but its log."""
    files = (f.relative_to(path) for f in path.rglob("*") if f.is_file())
    return {str(f) for f in files if f.parts[0] != "_delta_log"}


class Log:
    """A table whose commits are given action by action."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._version = 0
        (path / "_delta_log").mkdir(parents=True)

    def commit(self, *actions: dict[str, Any]) -> None:
        name = f"{self._version:020}.json"
        self._version += 1
        lines = "".join(json.dumps(a) + "\n" for a in actions)
        (self.path / "_delta_log" / name).write_text(lines)

    def protocol(self, *features: str) -> dict[str, Any]:
        named = list(features)
        return {
            "protocol": {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": named,
                "writerFeatures": named,
            }
        }

    def metadata(
        self, fields: list[dict[str, Any]], partition_by: tuple[str, ...] = (), **configuration: str
    ) -> dict[str, Any]:
        schema = json.dumps({"type": "struct", "fields": fields})
        return {
            "metaData": {
                "id": str(uuid.uuid4()),
                "format": {"provider": "parquet", "options": {}},
                "schemaString": schema,
                "partitionColumns": list(partition_by),
                "configuration": {name.replace("__", "."): value for name, value in configuration.items()},
            }
        }

    def add(self, name: str, table: pa.Table, **more: Any) -> dict[str, Any]:
        """Writes a data file and gives its action. `name` is decoded; pass `path` where the log differs."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, file)
        action = {
            "path": name,
            "partitionValues": {},
            "size": file.stat().st_size,
            "modificationTime": 0,
            "dataChange": True,
        }
        return {"add": {**action, **more}}


def field(name: str, data_type: Any, **metadata: Any) -> dict[str, Any]:
    """A field of a schema string."""
    return {"name": name, "type": data_type, "nullable": True, "metadata": metadata}


def ruled(path: Path, fields: list[dict[str, Any]], **constraints: str) -> str:
    """An empty table with all features of rules, and CHECK constraints."""
    log = Log(path)
    metadata = log.metadata(fields)
    metadata["metaData"]["configuration"] = {f"delta.constraints.{k}": v for k, v in constraints.items()}
    names = ["checkConstraints", "generatedColumns", "allowColumnDefaults", "identityColumns", "invariants"]
    writer = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": names}
    log.commit({"protocol": writer}, metadata)
    return str(path)


def mapped(name: str, data_type: Any, physical: str, number: int) -> dict[str, Any]:
    """A field under column mapping."""
    annotations = {"delta.columnMapping.physicalName": physical, "delta.columnMapping.id": number}
    return {"name": name, "type": data_type, "nullable": True, "metadata": annotations}


def inline_vector(*rows: int) -> dict[str, Any]:
    """An inline deletion vector of row positions, at most 4096 in each 65536."""
    bitmaps = _by_high_bits(rows, 32)
    raw = (1681511377).to_bytes(4, "little") + len(bitmaps).to_bytes(8, "little")
    for high, below in bitmaps.items():
        raw += high.to_bytes(4, "little") + _bitmap(_by_high_bits(below, 16))
    return {
        "storageType": "i",
        "pathOrInlineDv": _z85(raw + b"\0" * (-len(raw) % 4)),
        "sizeInBytes": len(raw),
        "cardinality": len(rows),
    }


def _by_high_bits(rows: Iterable[int], bits: int) -> dict[int, list[int]]:
    """The low bits of numbers by the bits above them, both in order."""
    found: dict[int, list[int]] = {}
    for row in sorted(rows):
        found.setdefault(row >> bits, []).append(row & ((1 << bits) - 1))
    return found


def _bitmap(containers: dict[int, list[int]]) -> bytes:
    """A serialized RoaringBitmap of arrays."""
    head = (12346).to_bytes(4, "little") + len(containers).to_bytes(4, "little")
    start = len(head) + 8 * len(containers)
    starts = values = b""
    for high, low in containers.items():
        head += high.to_bytes(2, "little") + (len(low) - 1).to_bytes(2, "little")
        starts += (start + len(values)).to_bytes(4, "little")
        values += b"".join(row.to_bytes(2, "little") for row in low)
    return head + starts + values


def _z85(data: bytes) -> str:
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    out = []
    for i in range(0, len(data), 4):
        number = int.from_bytes(data[i : i + 4], "big")
        out.append("".join(digits[number // 85**p % 85] for p in (4, 3, 2, 1, 0)))
    return "".join(out)
