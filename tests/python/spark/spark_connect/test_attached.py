"""The client's door of a stock server: what a session keeps, where it ends, and what others see of it."""

from __future__ import annotations

import os
import shutil
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
from served_sessions import agents_of, session, until

import deltaic
from deltaic.exceptions import SourceRowsChangedError, UnsupportedError
from deltaic.spark.bridge import compiler
from deltaic.spark.session.kind import served_name
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


def test_the_functions_of_deltaic_take_the_plain_way(own: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    assert deltaic.save(own.range(10), path) == 0
    assert deltaic.read(own, path, where="id > 4").count() == 5
    assert "LogFileIndex" in deltaic.read(own, path)._explain_string(extended=True)
    deltaic.sql(own, f"DELETE FROM delta.`{path}` WHERE id = 1").collect()
    assert DeltaTable.forPath(own, path).history(1).first().operation == "DELETE"


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
def test_a_server_that_keeps_no_classes_apart_is_left_alone(tmp_path: Path) -> None:
    more = {"spark.sql.artifact.isolation.enabled": "false"}
    with connect_server(tmp_path, str(PACKAGE.parent), more=more) as url:
        spark = session(url)
        with pytest.warns(UserWarning, match=r"does not keep the classes of its sessions apart"):
            deltaic.enable(spark)
        assert served_name(spark) is None
        deltaic.save(spark.range(3), str(tmp_path / "t"))
        assert spark.read.format("delta").load(str(tmp_path / "t")).count() == 3
        spark.stop()


@pytest.mark.long
def test_a_server_with_another_version_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(PACKAGE, tmp_path / "deltaic", symlinks=True)
    with (tmp_path / "deltaic/spark/bridge/Scala.java").open("a") as file:
        file.write("// of another release\n")
    with connect_server(tmp_path, str(tmp_path)) as url:
        for cached in (True, False):
            if not cached:
                monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
            spark = session(url)
            with pytest.warns(UserWarning, match=r"its Python.* has another version of deltaic"):
                deltaic.enable(spark)
            assert served_name(spark) is None
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
