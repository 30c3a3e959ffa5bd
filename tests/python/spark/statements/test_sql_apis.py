"""`deltaic.sql`: the same statements on a classic session and on Spark Connect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException

import deltaic
from deltaic.exceptions import InvalidArgumentError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark


@pytest.fixture
def path(tmp_path: Path) -> str:
    import pyarrow as pa

    path = str(tmp_path / "t")
    for start in (0, 5):
        rows = pa.table({"id": pa.array(range(start, start + 5), pa.int64()), "name": [f"n{start}"] * 5})
        deltaic.write(path, rows, mode="append")
    return path


def rows(path: str) -> dict[int, str]:
    import pyarrow as pa

    table = pa.table(deltaic.Table(path).to_arrow())
    return dict(zip(table.column("id").to_pylist(), table.column("name").to_pylist(), strict=True))


def test_rows_are_changed(door: Any, path: str) -> None:
    table = f"delta.`{path}`"
    assert deltaic.sql(door, f"DELETE FROM {table} WHERE id % 2 = 1").collect()[0][0] == 5
    assert deltaic.sql(door, f"UPDATE {table} SET name = upper(name) WHERE id > 4").collect()[0][0] == 2
    door.sql("SELECT 8L AS id, 'new' AS name UNION ALL SELECT 9L, 'new'").createOrReplaceTempView("source")
    done = deltaic.sql(
        door,
        f"""MERGE INTO {table} AS t USING source AS s ON t.id = s.id -- two of them
            WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT *""",
    ).collect()
    assert tuple(done[0]) == (2, 1, 0, 1)
    assert rows(path) == {0: "n0", 2: "n0", 4: "n0", 6: "N5", 8: "new", 9: "new"}


def test_statements_that_spark_does_not_know(door: Any, path: str) -> None:
    table = f"delta.`{path}`"
    assert deltaic.sql(door, f"OPTIMIZE {table}").collect()[0].metrics.numFilesAdded == 1
    history = deltaic.sql(door, f"DESCRIBE HISTORY {table} LIMIT 2").collect()
    assert [(r.version, r.operation) for r in history] == [(2, "OPTIMIZE"), (1, "WRITE")]
    detail = deltaic.sql(door, f"DESCRIBE DETAIL '{path}'").collect()
    assert detail[0].numFiles == 1
    deltaic.sql(door, f"RESTORE TABLE {table} TO VERSION AS OF 0")
    assert set(rows(path)) == set(range(5))
    deltaic.sql(door, f"ALTER TABLE {table} ADD CONSTRAINT small CHECK (id < 100)")
    assert deltaic.Table(path).properties["delta.constraints.small"] == "id < 100"
    deltaic.sql(door, f"GENERATE symlink_format_manifest FOR TABLE {table}")
    assert (deltaic.Table(path).detail())["numFiles"] == 1


def test_what_the_server_knows_goes_to_it(door: Any) -> None:
    assert [r.id for r in deltaic.sql(door, "SELECT id FROM range(3)").collect()] == [0, 1, 2]


def test_a_mistake_is_shown_at_its_word(door: Any, path: str) -> None:
    version = deltaic.Table(path).version
    with pytest.raises(InvalidArgumentError, match="RETIAN"):
        deltaic.sql(door, f"VACUUM delta.`{path}` RETIAN 10 HOURS")
    assert deltaic.Table(path).version == version


def test_tables_by_name_are_refused_on_connect_with_what_to_do(connect: Any, path: str) -> None:
    version = deltaic.Table(path).version
    connect.sql(f"CREATE TABLE by_name USING delta LOCATION '{path}'")
    rows = connect.sql("SELECT 99L AS id, 'x' AS name")
    for attempt in (
        lambda: rows.write.format("delta").saveAsTable("other"),
        lambda: rows.writeTo("other").using("delta").create(),
        lambda: rows.writeTo("by_name").append(),
        lambda: connect.sql("INSERT INTO by_name VALUES (99, 'x')"),
        lambda: connect.table("by_name").collect(),
    ):
        with pytest.raises(AnalysisException, match=r"path: missing.*deltaic\.save\(df, path\)"):
            attempt()
    assert deltaic.Table(path).version == version
    assert not connect.catalog.tableExists("other")
    # what asks the catalog itself knows the place
    assert deltaic.sql(connect, "DELETE FROM by_name WHERE id = 1").collect()[0][0] == 1
    connect.sql("DROP TABLE by_name")
    assert deltaic.Table(path).version == version + 1
