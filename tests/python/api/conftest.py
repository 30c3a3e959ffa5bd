"""Tables with a log written by hand, so that no test of reading depends on our writer."""

import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

FIRST_COMMIT = 1_767_225_600_000  # 2026-01-01


class HandMade:
    """A table of `id long, day date, s struct<x: string>`, partitioned by `day`, one commit at a time."""

    fields = (
        ("id", "long"),
        ("day", "date"),
        (
            "s",
            {"type": "struct", "fields": [{"name": "x", "type": "string", "nullable": True, "metadata": {}}]},
        ),
    )

    def __init__(self, root):
        self.root = root
        self.version = -1
        (root / "_delta_log").mkdir(parents=True)
        schema = {
            "type": "struct",
            "fields": [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in self.fields],
        }
        metadata = {
            "id": "11111111-2222-3333-4444-555555555555",
            "name": "hand-made",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps(schema),
            "partitionColumns": ["day"],
            "configuration": {"delta.appendOnly": "false"},
            "createdTime": FIRST_COMMIT,
        }
        self.commit(
            {"commitInfo": {"operation": "CREATE TABLE", "operationParameters": {"isManaged": "false"}}},
            {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
            {"metaData": metadata},
        )

    def commit(self, *actions):
        """Writes the next commit; its file is one minute younger than the one before."""
        self.version += 1
        path = self.root / "_delta_log" / f"{self.version:020}.json"
        path.write_text("".join(json.dumps(action) + "\n" for action in actions))
        seconds = FIRST_COMMIT / 1000 + 60 * self.version
        os.utime(path, (seconds, seconds))

    def add(self, day, ids, **more):
        """A data file of one day, and its `add`."""
        folder = self.root / f"day={day}"
        folder.mkdir(exist_ok=True)
        path = folder / f"part-{self.version + 1}-{len(list(folder.iterdir()))}.parquet"
        rows = pa.table({"id": pa.array(ids, pa.int64()), "s": [{"x": f"x{i}"} for i in ids]})
        pq.write_table(rows, path)
        stats = {
            "numRecords": len(ids),
            "minValues": {"id": min(ids)},
            "maxValues": {"id": max(ids)},
            "nullCount": {"id": 0},
        }
        return {
            "add": {
                "path": str(path.relative_to(self.root)),
                "partitionValues": {"day": str(day)},
                "size": path.stat().st_size,
                "modificationTime": FIRST_COMMIT,
                "dataChange": True,
                "stats": json.dumps(stats),
                **more,
            }
        }

    def remove(self, add):
        """The `remove` of an `add`."""
        return {"remove": {"path": add["add"]["path"], "deletionTimestamp": FIRST_COMMIT, "dataChange": True}}


@pytest.fixture
def empty(tmp_path):
    """A table with one commit and no rows."""
    return HandMade(tmp_path / "hand made")


@pytest.fixture
def table(empty):
    """Versions 1 to 3: two files on 2026-01-01, one on 2026-01-02, one of the first two removed."""
    info = {
        "commitInfo": {"operation": "WRITE", "operationParameters": {"mode": "Append"}, "engineInfo": "hand"}
    }
    first = [empty.add("2026-01-01", [1, 2, 3]), empty.add("2026-01-01", [10, 11])]
    empty.commit(info, *first)
    empty.commit(info, empty.add("2026-01-02", [20, 21, 22, 23]))
    empty.commit({"commitInfo": {"operation": "DELETE"}}, empty.remove(first[0]))
    return empty
