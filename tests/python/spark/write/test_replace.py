"""`replaceUsing` and `replaceOn` beside other writers, and by each way to write: what needs no peer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyspark
import pytest
from dml_tables import VECTORS, data_files, versions
from pyspark.errors import PySparkException

import deltaic
from deltaic import exceptions
from deltaic.spark.write.retry import MAX_REPLAYS
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SOURCE = "SELECT 2L AS id, 'new' AS v UNION ALL SELECT 9L, 'new'"
BEFORE_43 = tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 3)
SERIALIZABLE = {"delta.isolationLevel": "Serializable"}


def rows(path: str) -> list[tuple[int, str]]:
    found = pa.table(deltaic.Table(path).to_arrow())
    return sorted(zip(*(found.column(name).to_pylist() for name in ("id", "v")), strict=True))


def replace(spark: Any, path: str, query: str = SOURCE, **options: str) -> None:
    deltaic.save(spark.sql(query), path, mode="overwrite", **{"replaceUsing": "id", **options})


@pytest.fixture
def make(spark: SparkSession, tmp_path: Path) -> Callable[..., str]:
    """A table of the ids 0 to 5 in two files."""

    def table(*, by_vectors: bool = False, **properties: str) -> str:
        path = str(tmp_path / "t")
        given = {**(VECTORS if by_vectors else {}), **properties}
        for first in (0, 3):
            data = spark.sql(f"SELECT id, 'old' AS v FROM range({first}, {first + 3}, 1, 1)")
            deltaic.save(data, path, mode="append", **given)
        return path

    return table


def append(path: str, key: int) -> None:
    deltaic.write(path, pa.table({"id": pa.array([key], pa.int64()), "v": ["other"]}), mode="append")


LEFT = [(0, "old"), (1, "old"), (2, "new"), (3, "old"), (4, "old"), (5, "old"), (9, "new")]


class TestBesideOthers:
    @pytest.mark.parametrize("by_vectors", [False, True], ids=["rewrite", "vectors"])
    def test_a_row_that_changed_is_replaced_as_it_is_now(
        self, spark: SparkSession, make: Any, overtaken: Any, by_vectors: Any
    ) -> None:
        path = make(by_vectors=by_vectors)
        overtaken(
            lambda: DeltaTable.forPath(spark, path).update("id IN (2, 5)", {"id": "7 - id", "v": "'other'"})
        )
        replace(spark, path)
        # 2 and 5 changed places: the row of the key 2 is the other one now
        assert rows(path) == [
            (0, "old"),
            (1, "old"),
            (2, "new"),
            (3, "old"),
            (4, "old"),
            (5, "other"),
            (9, "new"),
        ]

    def test_a_row_that_joined_is_replaced_where_all_is_serial(
        self, spark: SparkSession, make: Any, overtaken: Any
    ) -> None:
        path = make(**SERIALIZABLE)
        overtaken(lambda: append(path, 9))
        replace(spark, path)
        assert rows(path) == LEFT
        assert versions(path) == 4

    def test_a_row_that_joined_is_there_where_appends_may_come_after(
        self, spark: SparkSession, make: Any, overtaken: Any
    ) -> None:
        path = make()
        overtaken(lambda: append(path, 9))
        replace(spark, path)
        assert rows(path) == [*LEFT, (9, "other")]

    def test_what_cannot_match_is_no_race(
        self, spark: SparkSession, make: Any, overtaken: Any, setting: Any
    ) -> None:
        path = make(**SERIALIZABLE)
        setting(MAX_REPLAYS, "0")
        overtaken(lambda: append(path, 77))
        replace(spark, path)
        assert rows(path) == [*LEFT, (77, "other")]

    def test_a_lost_race_is_an_error_and_nothing_is_left_of_it(
        self, spark: SparkSession, make: Any, overtaken: Any, setting: Any
    ) -> None:
        path = make()
        setting(MAX_REPLAYS, "0")
        overtaken(lambda: DeltaTable.forPath(spark, path).delete("id = 2"))
        with pytest.raises(exceptions.CommitConflictError) as lost:
            replace(spark, path)
        assert lost.value.winner == "DELETE"
        assert len(rows(path)) == 5
        assert len(data_files(path)) == 3

    def test_what_the_rows_read_of_the_table_is_claimed(
        self, spark: SparkSession, make: Any, overtaken: Any
    ) -> None:
        path = make()
        top = spark.read.format("delta").load(path).selectExpr("max(id) + 100 AS id", "'new' AS v")
        overtaken(lambda: DeltaTable.forPath(spark, path).update("id = 5", {"id": "50"}))
        deltaic.save(top, path, mode="overwrite", replaceUsing="id")
        assert rows(path)[-1] == (150, "new")


def test_files_that_cannot_match_stay(spark: SparkSession, make: Any) -> None:
    path = make()
    first = data_files(path)
    replace(spark, path)
    kept = set(pa.table(deltaic.Table(path).files()).column("path").to_pylist())
    assert len(kept & {str(f).rpartition("/")[2] for f in first}) == 1


def test_rows_that_stay_keep_their_ids(spark: SparkSession, make: Any) -> None:
    path = make(**{"delta.enableRowTracking": "true"})
    before = dict(deltaic.read(spark, path, row_ids=True).select("id", "_row_id").collect())
    replace(spark, path)
    after = dict(deltaic.read(spark, path, row_ids=True).select("id", "_row_id").collect())
    assert {key: after[key] for key in before if key != 2} == {k: v for k, v in before.items() if k != 2}
    assert len(set(after.values())) == 7
    assert after[2] not in before.values()


def test_settings_of_files_are_followed(spark: SparkSession, make: Any, setting: Any) -> None:
    path = make(by_vectors=True)
    replace(
        spark, path, compression="zstd", maxRecordsPerFile="1", deltaicRoute="direct", userMetadata="said"
    )
    new = [f for f in data_files(path) if "zstd" in str(f)]
    assert len(new) == 2
    last = DeltaTable.forPath(spark, path).history(1).first()
    assert last.userMetadata == "said"
    # marked where it is, unless the session says otherwise
    assert last.operationMetrics["numRemovedFiles"] == "0"
    setting("spark.databricks.delta.delete.deletionVectors.persistent", "false")
    replace(spark, path, "SELECT 4L AS id, 'new' AS v")
    assert DeltaTable.forPath(spark, path).history(1).first().operationMetrics["numRemovedFiles"] == "1"


def test_a_stream_is_refused(spark: SparkSession, make: Any, tmp_path: Path) -> None:
    path = make()
    stream = spark.readStream.format("delta").load(path).writeStream.format("delta")
    stream = stream.option("checkpointLocation", str(tmp_path / "c")).option("replaceUsing", "id")
    with pytest.raises(
        exceptions.InvalidArgumentError, match="replaceUsing: not for a stream: use foreachBatch"
    ):
        stream.start(str(tmp_path / "to")).processAllAvailable()
    assert not (tmp_path / "to").exists()


@pytest.mark.skipif(BEFORE_43, reason="the grammar of this Spark lacks it")
@pytest.mark.parametrize(
    ("statement", "said", "left"),
    [
        ("INSERT INTO {t} REPLACE USING (id) SELECT 2L id, 'new' v", "(id)", 6),
        ("INSERT INTO {t} BY NAME REPLACE USING (ID) SELECT 'new' v, 2L id", "(ID)", 6),
        ("INSERT INTO {t} AS x REPLACE ON x.id = s.k (SELECT 2 k, 'new' w) AS s", "x.id = s.k", 6),
        (
            "INSERT INTO {t} x BY NAME REPLACE ON x.id <=> s.id (SELECT 'new' v, 2L id) AS s",
            "x.id <=> s.id",
            6,
        ),
        ("INSERT WITH SCHEMA EVOLUTION INTO {t} REPLACE USING (id) SELECT 2L id, 'new' v, 5 n", "(id)", 6),
        ("INSERT INTO {t} x REPLACE ON (x.id > 1) SELECT id, 'new' FROM {t} WHERE id = 2", "x.id > 1", 3),
    ],
)
@pytest.mark.parametrize("by_name", [True, False], ids=["name", "path"])
def test_statements(
    spark: SparkSession, make: Any, statement: str, said: str, left: int, by_name: Any
) -> None:
    path = make()
    spark.sql("DROP TABLE IF EXISTS replaced_by_a_statement")
    spark.sql(f"CREATE TABLE replaced_by_a_statement USING delta LOCATION '{path}'")
    spark.sql(statement.format(t="replaced_by_a_statement" if by_name else f"delta.`{path}`"))
    found = rows(path)
    assert len(found) == left
    assert [v for id_, v in found if id_ == 2] == ["new"]
    last = DeltaTable.forPath(spark, path).history(1).first()
    assert said in last.operationParameters.values()
    spark.sql("DROP TABLE replaced_by_a_statement")


class TestConnect:
    def test_both_options(self, connect: Any, tmp_path: Path) -> None:
        path = str(tmp_path / "t")
        deltaic.save(connect.sql("SELECT id, 'old' AS v FROM range(6)"), path)
        replace(connect, path)
        assert rows(path) == LEFT
        source = connect.sql("SELECT 3L AS id, 'on' AS v").alias("s")
        deltaic.save(source, path, mode="overwrite", replaceOn="t.id >= s.id", targetAlias="t")
        assert rows(path) == [(0, "old"), (1, "old"), (2, "new"), (3, "on")]

    def test_what_is_unclear_is_refused(self, connect: Any, tmp_path: Path) -> None:
        path = str(tmp_path / "t")
        deltaic.save(connect.sql("SELECT id, 'old' AS v FROM range(6)"), path)
        for condition, said in (("id = 2", "AMBIGUOUS"), ("t.id = s.x", "UNRESOLVED")):
            with pytest.raises(exceptions.InvalidArgumentError, match=f"DELTA_INSERT_REPLACE_ON_{said}"):
                deltaic.save(connect.sql(SOURCE), path, mode="overwrite", replaceOn=condition)
        assert versions(path) == 1

    @pytest.mark.parametrize("option", ["replaceUsing", "replaceOn"])
    def test_the_format_refuses_them(self, connect: Any, tmp_path: Path, option: str) -> None:
        path = str(tmp_path / "t")
        deltaic.save(connect.sql("SELECT id, 'old' AS v FROM range(6)"), path)
        before = data_files(path)
        writer = connect.sql(SOURCE).write.format("delta").mode("overwrite").option(option, "id")
        with pytest.raises(PySparkException, match=rf"{option}: not for this write on Spark Connect"):
            writer.save(path)
        assert versions(path) == 1
        assert data_files(path) == before

    @pytest.mark.parametrize("clause", ["REPLACE USING (id)", "AS x REPLACE ON x.id = 2"])
    def test_statements_are_refused(self, connect: Any, tmp_path: Path, clause: str) -> None:
        path = str(tmp_path / "t")
        deltaic.save(connect.sql("SELECT id, 'old' AS v FROM range(6)"), path)
        with pytest.raises((exceptions.DeltaError, PySparkException)):
            deltaic.sql(connect, f"INSERT INTO delta.`{path}` {clause} SELECT 2L, 'new'")
        assert versions(path) == 1
