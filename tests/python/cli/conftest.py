"""A table with a history; and Windows has no named pipes, no `sh`, and other terminals."""

import os

import pyarrow as pa
import pytest

import deltaic

collect_ignore = [] if os.name == "posix" else ["test_completion.py", "test_screen.py", "test_signals.py"]


@pytest.fixture
def changed(tmp_path):
    """Version 0 has the ids 0 to 4 in two partitions, 1 deletes one row, 2 adds a column."""
    path = tmp_path / "t"
    data = pa.table({"id": pa.array(range(5), pa.int64()), "n": [1, 9, 10, 2, None]})
    properties = {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"}
    deltaic.write(
        path, data, partition_by="n", configuration={**properties, "delta.columnMapping.mode": "name"}
    )
    table = deltaic.Table(path)
    table.delete("id = 1")
    table.add_columns({"s": "string"})
    deltaic.write(path, pa.table({"id": pa.array([9, 8], pa.int64()), "n": [2, 2], "s": ["x", None]}))
    table.update()
    table.delete("id = 9")
    return path
