"""Sessions that the server serves, by its admin's settings or by the client's door: everything is as on classic ones.

No test here calls a function of deltaic on the way to a table, so another client, of another language, does the same.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from connect_server import connect_server
from served_sessions import agents_of, session, until

import deltaic
from deltaic.exceptions import TableNotFoundError
from deltaic.spark.session.kind import served_name
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.spark


@pytest.fixture(params=["served", "attached"])
def way(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


@pytest.fixture
def name(way: Any) -> Iterator[str]:
    yield "named"
    way.sql("DROP TABLE IF EXISTS named").collect()


def test_by_path(way: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    rows = way.range(100).selectExpr("id", "id % 4 AS p")
    rows.write.format("delta").partitionBy("p").save(path)
    rows.write.format("delta").mode("ignore").save(path)
    with pytest.raises(Exception, match="already exists"):
        rows.write.format("delta").save(path)
    rows.where("id < 8").write.format("delta").mode("append").save(path)
    rows.where("p = 0").write.format("delta").mode("overwrite").option("replaceWhere", "p = 0").save(path)
    assert way.read.format("delta").load(path).count() == 106
    assert way.read.format("delta").option("versionAsOf", 0).load(path).count() == 100
    # what is pruned is not opened
    for file in tmp_path.glob("t/p=3/*.parquet"):
        file.unlink()
    assert way.read.format("delta").load(path).where("p = 1 AND id > 50").count() == 12
    with pytest.raises(Exception, match=r"FILE_NOT_EXIST|does not exist"):
        way.read.format("delta").load(path).where("p = 3").selectExpr("sum(id)").collect()


def test_by_name(way: Any, name: str) -> None:
    rows = way.range(6)
    rows.write.format("delta").saveAsTable(name)
    rows.write.format("delta").mode("overwrite").saveAsTable(name)
    assert way.table(name).count() == 6, "an overwrite keeps the name"
    rows.write.insertInto(name)
    rows.writeTo(name).append()
    assert way.table(name).count() == 18
    rows.where("id < 2").writeTo(name).using("delta").createOrReplace()
    assert [r.id for r in way.sql(f"SELECT * FROM {name} ORDER BY id").collect()] == [0, 1]
    assert way.sql(f"SELECT count(*) FROM {name} VERSION AS OF 1").first()[0] == 6
    assert name in [t.name for t in way.catalog.listTables()]
    assert way.catalog.tableExists(name)
    assert way.sql(f"SHOW TBLPROPERTIES {name}").count() > 0
    assert "id" in [r.col_name for r in way.sql(f"DESCRIBE {name}").collect()]


def test_statements(way: Any, name: str, tmp_path: Path) -> None:
    way.sql(
        f"CREATE TABLE {name} (id BIGINT, v STRING) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'id', "
        "'delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true')"
    )
    way.sql(f"ALTER TABLE {name} ADD CONSTRAINT c CHECK (id >= 0)").collect()
    way.sql(f"INSERT INTO {name} SELECT id, CAST(id AS STRING) FROM range(1000)")
    assert way.sql(f"DELETE FROM {name} WHERE id % 10 = 3").first()[0] == 100
    assert way.sql(f"UPDATE {name} SET v = 'x' WHERE id = (SELECT max(id) FROM {name})").first()[0] == 1
    merged = way.sql(
        f"MERGE INTO {name} t USING (SELECT id + 995 AS id, 'm' AS v FROM range(10)) s ON t.id = s.id "
        f"WHEN MATCHED AND s.id IN (SELECT id FROM {name}) THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    ).first()
    assert (merged.num_updated_rows, merged.num_inserted_rows) == (5, 5)
    assert way.sql(f"SELECT count(*) FROM {name} WHERE v = 'm'").first()[0] == 10
    way.sql(f"ALTER TABLE {name} RENAME COLUMN v TO w").collect()
    assert way.table(name).where("id > 990").select("w").distinct().count() > 1
    assert way.sql(f"OPTIMIZE {name}").count() == 1
    assert way.sql(f"VACUUM {name} DRY RUN").columns == ["path"]
    changes = way.sql(f"SELECT DISTINCT _change_type FROM table_changes('{name}', 2, 5)").collect()
    assert {r[0] for r in changes} == {"delete", "insert", "update_preimage", "update_postimage"}
    way.sql(f"CREATE TABLE delta.`{tmp_path}/clone` SHALLOW CLONE {name}").collect()
    assert way.read.format("delta").load(f"{tmp_path}/clone").count() == 905
    way.sql(f"RESTORE {name} TO VERSION AS OF 2").collect()
    assert way.table(name).count() == 1000
    history = way.sql(f"DESCRIBE HISTORY {name}").collect()
    assert [r.operation for r in history][:3] == ["RESTORE", "OPTIMIZE", "RENAME COLUMN"]


def test_a_stream(way: Any, tmp_path: Path) -> None:
    source, target = str(tmp_path / "source"), str(tmp_path / "target")
    way.range(50).write.format("delta").save(source)
    stream = way.readStream.format("delta").load(source).where("id % 2 = 0").writeStream.format("delta")
    for rows in (25, 50):
        query = stream.option("checkpointLocation", f"{tmp_path}/c").trigger(availableNow=True).start(target)
        assert query.awaitTermination(120)
        assert query.exception() is None
        assert way.read.format("delta").load(target).count() == rows
        way.range(50).write.format("delta").mode("append").save(source)


@pytest.mark.parametrize("by", ["statement", "DeltaTable", "upsert_batch"])
def test_batches_of_a_stream_are_merged_by_name(way: Any, name: str, by: str, tmp_path: Path) -> None:
    source = str(tmp_path / "source")
    way.sql(f"CREATE TABLE {name} (id BIGINT, v STRING) USING delta").collect()
    way.sql(f"INSERT INTO {name} VALUES (1, 'old'), (7, 'kept')").collect()

    def statement(rows: Any, _: int) -> None:
        rows.createOrReplaceTempView("batch")
        rows.sparkSession.sql(
            f"MERGE INTO {name} t USING batch s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )

    def method(rows: Any, _: int) -> None:
        from deltaic.tables import DeltaTable

        table = DeltaTable.forName(rows.sparkSession, name).alias("t")
        merge = table.merge(rows.alias("s"), "t.id = s.id").whenMatchedUpdateAll().whenNotMatchedInsertAll()
        assert merge.execute().first().num_affected_rows == 3

    if by == "upsert_batch":
        table = DeltaTable.forName(deltaic.enable(way), name)
        batch = deltaic.upsert_batch(table, "id", query_id="a name")
    else:
        batch = statement if by == "statement" else method
    for first in (0, 2):
        rows = way.range(first, first + 3).selectExpr("id", "'new' AS v")
        rows.write.format("delta").mode("append").save(source)
        stream = way.readStream.format("delta").load(source).writeStream.foreachBatch(batch)
        query = stream.option("checkpointLocation", f"{tmp_path}/c").trigger(availableNow=True).start()
        assert query.awaitTermination(120)
        assert query.exception() is None
    found = {r.id: r.v for r in way.table(name).collect()}
    assert found == {**dict.fromkeys(range(5), "new"), 7: "kept"}
    assert [r.operation for r in way.sql(f"DESCRIBE HISTORY {name} LIMIT 2").collect()] == ["MERGE"] * 2


def test_a_query_reads_what_is_newest(way: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    way.range(3).write.format("delta").save(path)
    frame = way.read.format("delta").load(path)
    frame.createOrReplaceTempView("fresh")
    assert frame.count() == 3
    way.range(4).write.format("delta").mode("append").save(path)
    assert frame.count() == 7
    assert way.sql("SELECT count(*) FROM fresh").first()[0] == 7
    frame.where("id < 2").write.format("delta").mode("overwrite").save(path)
    assert frame.count() == 4


def test_errors_have_their_class_and_facts(stock: str, admins: str, tmp_path: Path) -> None:
    path = str(tmp_path / "none")
    for url in (stock, admins):
        spark = deltaic.enable(session(url))
        with pytest.raises(TableNotFoundError) as raised:
            spark.read.format("delta").load(path).count()
        assert raised.value.path == path
        assert raised.value.condition == "PATH_NOT_FOUND"
        spark.stop()


class TestTheServersAgent:
    def test_there_is_one_for_all_sessions(self, served: Any, admins: str, tmp_path: Path) -> None:
        path = str(tmp_path / "t")
        served.range(3).write.format("delta").save(path)
        other = session(admins)
        assert other.sql(f"SELECT count(*) FROM delta.`{path}`").first()[0] == 3
        assert len(agents_of(served)) == 1
        assert deltaic.enable(other) is other
        assert served_name(other) == "delta"
        other.stop()

    def test_one_that_died_is_started_again(self, served: Any, tmp_path: Path) -> None:
        path = str(tmp_path / "t")
        served.range(3).write.format("delta").save(path)
        before = agents_of(served)
        os.kill(before[0], signal.SIGKILL)
        until(lambda: not agents_of(served))
        assert served.read.format("delta").load(path).count() == 3
        assert agents_of(served) != before


@pytest.mark.long
def test_a_server_whose_python_has_no_deltaic_says_so(tmp_path: Path) -> None:
    (tmp_path / "deltaic").mkdir()
    (tmp_path / "deltaic/__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'deltaic'\")\n"
    )
    command = [sys.executable, "-W", "ignore", "-m", "deltaic", "connect-conf", "--folder", str(tmp_path)]
    reported = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    more = dict(line.split(None, 1) for line in reported.splitlines())
    assert more["spark.jars"].startswith(str(tmp_path))
    with connect_server(tmp_path, str(tmp_path), more=more) as url:
        spark = session(url)
        assert spark.range(3).count() == 3
        with pytest.raises(
            Exception, match=r"no Python serves Delta tables here: .* \(No module named 'deltaic'"
        ):
            spark.range(3).write.format("delta").save(str(tmp_path / "t"))
        spark.stop()
