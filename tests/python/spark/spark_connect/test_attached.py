"""The client's door of a stock server: what a session keeps, where it ends, and what others see of it."""

from __future__ import annotations

import datetime as dt
import os
import signal
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from connect_server import connect_server
from pyspark.errors import StreamingQueryException
from pyspark.sql.types import StringType
from served_sessions import agents_of, session, until

import deltaic
from deltaic import _core
from deltaic.exceptions import (
    InvalidArgumentError,
    SourceRowsChangedError,
    TableAlreadyExistsError,
    TableNotFoundError,
    UnsupportedError,
)
from deltaic.spark.bridge import compiler
from deltaic.spark.session.kind import functions, served_name
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.spark
PACKAGE = Path(deltaic.__file__).parent


@pytest.fixture
def own(stock: str) -> Iterator[Any]:
    """An attached session of this test."""
    spark = deltaic.enable(session(stock))
    assert served_name(spark) == "delta"
    yield spark
    if not spark.is_stopped:
        spark.stop()


def other_jar(folder: Path) -> str:
    """A JAR of the user: to add it renews the class loader of a session."""
    with zipfile.ZipFile(folder / "other.jar", "w") as jar:
        jar.writestr("other.txt", "something")
    return str(folder / "other.jar")


def test_artifacts_that_come_later_take_nothing_away(own: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    own.sql(
        f"CREATE TABLE delta.`{path}` (id BIGINT, v STRING) USING delta TBLPROPERTIES "
        "('delta.columnMapping.mode' = 'id', 'delta.enableDeletionVectors' = 'true')"
    )
    own.sql(f"INSERT INTO delta.`{path}` SELECT id, CAST(id AS STRING) FROM range(1000)")
    own.sql(f"DELETE FROM delta.`{path}` WHERE id % 10 = 3")
    own.read.format("delta").load(path).createOrReplaceTempView("before")
    own.addArtifact(other_jar(tmp_path))
    assert own.read.format("delta").load(path).count() == 900
    assert own.table("before").where("v > 5").count() > 0
    assert own.sql(f"SELECT count(*) FROM delta.`{path}`").first()[0] == 900
    assert own.sql(f"DELETE FROM delta.`{path}` WHERE id % 10 = 4").first()[0] == 100
    own.range(5).selectExpr("id", "'x' AS v").write.format("delta").mode("append").save(path)
    assert own.table("before").count() == 805
    assert own.sql(f"OPTIMIZE delta.`{path}`").count() == 1
    own.read.format("delta").load(path).write.format("delta").mode("overwrite").saveAsTable("renewed")
    own.sql(
        "MERGE INTO renewed t USING before s ON t.id = s.id AND t.v = s.v WHEN MATCHED THEN DELETE"
    ).collect()
    assert own.table("renewed").count() == 0
    own.sql("DROP TABLE renewed").collect()
    stream = own.readStream.format("delta").load(path).writeStream.format("delta")
    query = stream.option("checkpointLocation", f"{tmp_path}/c").trigger(availableNow=True).start(f"{path}2")
    assert query.awaitTermination(120)
    assert own.read.format("delta").load(f"{path}2").count() == 805
    with ThreadPoolExecutor(6) as threads:
        counts = threads.map(lambda _: own.read.format("delta").load(path).where("id > 5").count(), range(6))
    assert len(set(counts)) == 1


def test_an_artifact_may_come_before_the_first_name(own: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    own.range(3).write.format("delta").save(path)
    own.addArtifact(other_jar(tmp_path))
    assert own.sql(f"DELETE FROM delta.`{path}` WHERE id = 1").first()[0] == 1
    assert own.sql(f"SELECT count(*) FROM delta.`{path}`").first()[0] == 2


def test_other_sessions_have_nothing_of_it(own: Any, stock: str, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    own.range(3).write.format("delta").save(path)
    stranger = session(stock)
    assert stranger.conf.get("spark.sql.catalog.spark_catalog", "builtin") == "builtin"
    with pytest.raises(Exception, match=r"DATA_SOURCE_NOT_FOUND|Failed to find"):
        stranger.read.format("delta").load(path).count()
    with pytest.raises(Exception, match=r"DATA_SOURCE_NOT_FOUND|Failed to find"):
        stranger.read.format("deltaic.spark.Door").load().count()
    with pytest.raises(Exception, match=r"UNRESOLVABLE_TABLE_VALUED_FUNCTION|could not resolve"):
        stranger.sql(f"SELECT * FROM table_changes('{path}', 0)").collect()
    # it can have its own
    assert served_name(deltaic.enable(stranger)) == "delta"
    assert stranger.read.format("delta").load(path).count() == 3
    assert len(agents_of(own)) >= 2
    stranger.stop()


def test_its_agent_ends_with_it(stock: str) -> None:
    watch = session(stock)
    before = agents_of(watch)
    spark = deltaic.enable(session(stock))
    assert len(agents_of(watch)) == len(before) + 1
    spark.stop()
    until(lambda: agents_of(watch) == before)
    watch.stop()


def test_a_client_that_comes_back_finds_it(own: Any, stock: str, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    own.range(3).write.format("delta").save(path)
    before = agents_of(own)
    again = session(f"{stock}/;session_id={own.session_id}")
    assert served_name(deltaic.enable(again)) == "delta"
    assert again.read.format("delta").load(path).count() == 3
    assert agents_of(again) == before
    # at the exit of a process PySpark asks the servers of clients that are open, and waits long for one that is gone
    again.client.close()


@pytest.mark.skipif(
    tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 3), reason="sessions make no others before 4.3"
)
def test_a_session_that_it_makes_is_served_too(own: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    new = own.newSession()
    assert served_name(new) == "delta"
    new.range(3).write.format("delta").save(path)
    assert new.sql(f"SELECT count(*) FROM delta.`{path}`").first()[0] == 3
    new.stop()


class TestFunctionsOfDeltaic:
    """The server plans and commits: this process opens no table."""

    @pytest.fixture(autouse=True)
    def no_table_here(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: Any, **__: Any) -> None:
            raise AssertionError("the client opens a table")

        for name in ("Table", "Dml", "WritePlan", "ScanPlan", "Convert", "create"):
            monkeypatch.setattr(_core, name, refuse)

    def test_save_and_read(self, own: Any, tmp_path: Path) -> None:
        path = str(tmp_path / "t")
        assert deltaic.save(own.range(10), path) == 0
        assert deltaic.save(own.range(10), path, mode="ignore") is None
        assert deltaic.save(own.range(2), path, mode="append", userMetadata="more") == 1
        assert deltaic.read(own, path, where="id > 4").count() == 5
        assert "LogFileIndex" in deltaic.read(own, path)._explain_string(extended=True)
        with pytest.raises(TableAlreadyExistsError):
            deltaic.save(own.range(2), path)

    def test_sql(self, own: Any, tmp_path: Path) -> None:
        path = str(tmp_path / "t")
        deltaic.save(own.range(10), path)
        deltaic.sql(own, f"DELETE FROM delta.`{path}` WHERE id = 1").collect()
        assert DeltaTable.forPath(own, path).history(1).first().operation == "DELETE"

    def test_methods_of_a_table(self, own: Any, tmp_path: Path) -> None:
        path = str(tmp_path / "t")
        made = DeltaTable.create(own).location(path).addColumn("id", "BIGINT").addColumn("v", StringType())
        table = made.property("delta.enableDeletionVectors", "true").execute()
        own.range(10).selectExpr("id", "'x' AS v").write.format("delta").mode("append").save(path)
        F = functions(own)  # noqa: N806 (its usual name)
        twice = F.udf(lambda v: v * 2, StringType())
        table.update(F.col("id") == 3, {"v": twice(F.col("v"))})
        table.delete(F.col("id") > F.lit(7))
        source = own.createDataFrame([(3, "y"), (20, "z")], "id long, v string").alias("s")
        merge = (
            table.alias("t")
            .merge(source, F.expr("t.id = s.id"))
            .whenMatchedUpdate(set={"v": twice(F.col("t.v"))})
        )
        counts = merge.whenNotMatchedInsertAll().execute().first()
        assert tuple(counts) == (2, 1, 0, 1)
        assert table.toDF().where("id IN (3, 20)").orderBy("id").collect() == [(3, "xxxx"), (20, "z")]
        assert table.optimize().executeCompaction().first().metrics.numFilesAdded > 0
        assert table.detail().first().numFiles > 0
        history = table.history().collect()
        assert [r.operation for r in history][:4] == ["OPTIMIZE", "MERGE", "DELETE", "UPDATE"]
        assert isinstance(history[0].timestamp, dt.datetime)
        assert table.restoreToVersion(1).first().num_restored_files > 0
        clone = table.clone(str(tmp_path / "clone"), isShallow=True)
        assert clone.toDF().count() == 10
        assert DeltaTable.isDeltaTable(own, path)
        assert not DeltaTable.isDeltaTable(own, str(tmp_path))
        table.addFeatureSupport("v2Checkpoint")
        assert table.vacuum().columns == []
        with pytest.raises(InvalidArgumentError):
            table.restoreToVersion("one")
        with pytest.raises(TableNotFoundError):
            DeltaTable.forPath(own, str(tmp_path / "none"))

    def test_columns_of_its_frames(self, own: Any, tmp_path: Path) -> None:
        path = str(tmp_path / "t")
        own.range(10).selectExpr("id", "'x' AS v", "named_struct('a', id) AS s").write.format("delta").save(
            path
        )
        table = DeltaTable.forPath(own, path)
        df = table.toDF()
        table.delete(df["id"] == 1)
        table.update(df.id > 7, {"v": functions(own).concat(df["v"], df["s.a"].cast("string"))})
        named = table.alias("t")
        source = own.createDataFrame([(2, "y"), (20, "z")], "id long, v string")
        for target in (df, named.toDF()):
            merge = named.merge(source, target["id"] == source["id"])
            merge.whenMatchedUpdate(set={"v": functions(own).concat(target["v"], source["v"])}).execute()
        found = {r.id: r.v for r in df.collect()}
        assert found == {**dict.fromkeys([0, *range(3, 8)], "x"), 2: "xyy", 8: "x8", 9: "x9"}
        # those of a source that is made from such a frame are the source's
        own_rows = df.where("id < 3")
        merge = named.merge(own_rows, functions(own).expr("t.id") == own_rows["id"])
        assert merge.whenMatchedDelete(df["id"] == 0).execute().first().num_deleted_rows == 1
        merge = table.merge(source, df["id"] == source["id"])
        assert merge.whenMatchedDelete().execute().first().num_deleted_rows == 1


@pytest.mark.long
def test_the_servers_python_makes_the_jar_where_there_is_none(
    stock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    spark = session(stock)
    assert compiler.kept_jar(spark.version) is None
    assert served_name(deltaic.enable(spark)) == "delta"
    assert compiler.kept_jar(spark.version) is not None
    spark.stop()


@pytest.mark.long
def test_a_client_that_dies_leaves_no_agent(tmp_path: Path) -> None:
    timeout = "spark.connect.session.manager."
    more = {f"{timeout}defaultSessionTimeout": "5s", f"{timeout}maintenanceInterval": "1s"}
    with connect_server(tmp_path, str(PACKAGE.parent), more=more) as url:
        program = (
            "import sys, time, deltaic; from pyspark.sql.connect.session import SparkSession\n"
            f"deltaic.enable(SparkSession.builder.remote({url!r}).create())\n"
            "print('ready', flush=True); time.sleep(600)"
        )
        client = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        assert client.stdout is not None
        assert client.stdout.readline() == b"ready\n"
        watch = session(url)
        assert len(agents_of(watch)) == 1
        os.kill(client.pid, signal.SIGKILL)
        client.wait()
        until(lambda: not agents_of(watch))


def test_what_stops_a_stream_has_its_class(own: Any, tmp_path: Path) -> None:
    source = str(tmp_path / "source")
    own.range(3).write.format("delta").save(source)

    def run() -> Any:
        stream = own.readStream.format("delta").load(source).writeStream.format("delta")
        stream = stream.option("checkpointLocation", f"{tmp_path}/c").trigger(availableNow=True)
        return stream.start(f"{tmp_path}/to").awaitTermination(120)

    assert run()
    own.sql(f"DELETE FROM delta.`{source}` WHERE id = 1").collect()
    with pytest.raises(SourceRowsChangedError) as raised:
        run()
    assert isinstance(raised.value, StreamingQueryException)
    assert raised.value.version == 1


def test_a_refusal_of_a_statement_is_typed(own: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    own.range(3).write.format("delta").save(path)
    with pytest.raises(UnsupportedError) as raised:
        own.sql(f"DROP TABLE delta.`{path}`").collect()
    assert raised.value.what == "DROP TABLE by path"


@pytest.mark.skipif(
    tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 1), reason="sessions are not cloned before 4.1"
)
def test_a_clone_is_served_too_as_long_as_its_original(stock: str, tmp_path: Path) -> None:
    path, original = str(tmp_path / "t"), deltaic.enable(session(stock))
    clone = original.cloneSession()
    clone.range(3).write.format("delta").save(path)
    assert clone.sql(f"SELECT count(*) FROM delta.`{path}`").first()[0] == 3
    clone.sql(f"DELETE FROM delta.`{path}` WHERE id = 1").collect()
    assert clone.sql(f"OPTIMIZE delta.`{path}`").count() == 1
    before = agents_of(clone)
    assert served_name(deltaic.enable(clone)) == "delta"
    assert agents_of(clone) == before
    original.stop()
    until(lambda: len(agents_of(clone)) < len(before))
    with pytest.raises(Exception, match="the session has ended, of which this one is a clone"):
        clone.read.format("delta").load(path).count()
    clone.stop()


def test_names_of_its_tables_do_not_disturb_other_sessions(own: Any, stock: str) -> None:
    own.range(3).write.format("delta").saveAsTable("of_one")
    stranger = session(stock)
    try:
        assert "of_one" in [row.tableName for row in stranger.sql("SHOW TABLES").collect()]
        with pytest.raises(Exception, match=r"DATA_SOURCE_NOT_FOUND|Failed to find"):
            stranger.table("of_one").count()
        assert stranger.sql("SELECT 1").first()[0] == 1
        assert own.table("of_one").count() == 3
    finally:
        own.sql("DROP TABLE of_one").collect()
        stranger.stop()
