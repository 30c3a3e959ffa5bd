"""Tables on Spark Connect that Spark's own Parquet reader does not read right or quickly: Python workers read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pyarrow as pa
import pytest
from bridge_tables import Log, field, inline_vector
from dml_tables import (
    FEED,
    KINDS,
    NAMES,
    ROW_TRACKING,
    VECTORS,
    actions,
    ids,
    metrics,
    row_ids,
    write_parts,
)

import deltaic
from deltaic import exceptions
from deltaic.spark.read import native_read
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark
IDS = {"delta.columnMapping.mode": "id"}


def change(connect: Any, path: str) -> None:
    """Deletes, updates and merges rows of `write_parts`."""
    table = DeltaTable.forPath(connect, path)
    table.delete("id % 10 = 3")
    table.update("id < 5", {"n": "-1", "s.a": "s.a + 100"})
    source = connect.sql("SELECT id, 'c' AS p, -2 AS n FROM range(58, 62)").alias("s")
    on_keys = table.alias("t").merge(source, "t.id = s.id")
    on_keys.whenMatchedUpdate(set={"n": "s.n"}).whenNotMatchedInsert(
        values={"id": "s.id", "p": "s.p", "n": "s.n"}
    ).execute()


def check(connect: Any, path: str) -> None:
    expected = {
        i: -2 if i >= 58 else -1 if i < 5 else None if i % 11 == 5 else i % 7
        for i in range(62)
        if i % 10 != 3 or i >= 60
    }
    for rows in (deltaic.read(connect, path), connect.read.format("delta").load(path)):
        assert {r.id: r.n for r in rows.collect()} == expected
        assert {r.id: r.s.a for r in rows.where("id < 7").collect()} == {
            0: 100, 1: 101, 2: 102, 4: 104, 5: 5, 6: 6,
        }  # fmt: skip
    assert sorted(pa.table(deltaic.Table(path).to_arrow())["id"].to_pylist()) == sorted(expected)


@pytest.mark.parametrize("properties", [{}, VECTORS, {**FEED, **ROW_TRACKING}, KINDS["everything"]], ids=repr)
def test_columns_with_ids(connect: Any, properties: dict[str, str], tmp_path: Path) -> None:
    write_parts(tmp_path / "t", {**properties, **IDS}, by=["p"])
    path = str(tmp_path / "t")
    before = row_ids(path) if ROW_TRACKING.keys() <= properties.keys() else {}
    change(connect, path)
    check(connect, path)
    if before:
        after = row_ids(path)
        kept = {i for i in range(58) if i % 10 != 3}
        assert {i: {n for n, _ in after[i]} for i in kept} == {i: {n for n, _ in before[i]} for i in kept}


def test_more_files_than_spark_should_list(
    connect: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(native_read, "MOST_FILES", 2)
    write_parts(tmp_path / "t", {**VECTORS, **ROW_TRACKING, **NAMES}, by=["p"])
    change(connect, str(tmp_path / "t"))
    check(connect, str(tmp_path / "t"))


def test_names_that_spark_hides(connect: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "a b%20é")
    log = Log(tmp_path / "a b%20é")
    fields = [field(n, "long") for n in ("id", "_c", ".d", "_metadata", "_p")]
    log.commit(
        log.protocol("deletionVectors"),
        log.metadata(fields, ("_p",), delta__enableDeletionVectors="true"),
    )
    for number, name in enumerate(("_f ü.parquet", ".g%.parquet", "h.parquet")):
        numbers = pa.array(range(number * 10, number * 10 + 10), pa.int64())
        data = pa.table(dict.fromkeys(("id", "_c", ".d", "_metadata"), numbers))
        folder = f"_p={number % 2}"
        more = {"partitionValues": {"_p": str(number % 2)}, "deletionVector": inline_vector(9)}
        log.commit(log.add(f"{folder}/{name}", data, path=f"{folder}/{quote(name)}", **more))
    table = DeltaTable.forPath(connect, path)
    left = [i for i in range(30) if i % 10 != 9]
    assert ids(table.toDF()) == left
    table.delete("`_c` < 3 OR `.d` = 25")
    table.update("`_metadata` % 10 = 4", {"`_c`": "`_metadata` * 10", "`.d`": "-1"})
    left = [i for i in left if i >= 3 and i != 25]
    rows = {r[0]: tuple(r)[1:] for r in deltaic.read(connect, path).collect()}
    assert rows == {i: (i * 10, -1, i, i // 10 % 2) if i % 10 == 4 else (i, i, i, i // 10 % 2) for i in left}
    table.delete("`_p` = 1")
    assert ids(deltaic.read(connect, path)) == [i for i in left if i // 10 != 1]


def test_a_condition_leaves_out_files_here_too(connect: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    write_parts(tmp_path / "t", {**VECTORS, **IDS})
    for action in actions(path, 0):
        if "add" in action:
            (tmp_path / "t" / action["add"]["path"]).unlink()
    assert ids(deltaic.read(connect, path, where="id >= 50")) == list(range(50, 60))
    DeltaTable.forPath(connect, path).delete("id >= 55")
    assert metrics(path)["numDeletedRows"] == 5


def test_a_file_that_is_gone_is_an_error_of_deltaic(connect: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    write_parts(tmp_path / "t", {**VECTORS, **IDS})
    name = next(a["add"]["path"] for a in actions(path, 1) if "add" in a)
    (tmp_path / "t" / name).unlink()
    table = DeltaTable.forPath(connect, path)
    merge = table.alias("t").merge(connect.sql("SELECT 21L AS id").alias("s"), "t.id = s.id")
    for change in (lambda: table.delete("id % 2 = 1"), merge.whenMatchedUpdate(set={"n": "1"}).execute):
        with pytest.raises(exceptions.DataFileError, match=name) as error:
            change()
        assert error.value.path.endswith(name)
        assert error.value.reason
