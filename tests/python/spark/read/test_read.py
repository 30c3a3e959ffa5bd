"""Reading in a classic session: every way to name a table, pruning, time travel, partition values."""

from __future__ import annotations

import datetime as dt
import threading
from typing import TYPE_CHECKING, Any

import plans
import pyarrow as pa
import pytest
from bridge_tables import Log, append, field, numbers

import deltaic
from deltaic.exceptions import (
    InvalidArgumentError,
    InvalidTimeTravelError,
    SchemaChangedError,
    TableNotFoundError,
    TimestampOutOfRangeError,
    VersionNotFoundError,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def test_rows_and_schema(spark: SparkSession, tmp_path: Path) -> None:
    df = spark.read.format("delta").load(str(numbers(tmp_path / "t", partitioned=True)))
    assert df.columns == ["id", "p", "x"]
    assert df.count() == 30
    assert [tuple(r) for r in df.where("id in (0, 17, 29)").orderBy("id").collect()] == [
        (0, "0", 0.0),
        (17, "2", 8.5),
        (29, "4", 14.5),
    ]


def test_column_order_is_the_tables_with_a_partition_column_in_front(
    spark: SparkSession, tmp_path: Path
) -> None:
    append(tmp_path / "t", {"p": ["a"], "id": [1]}, ["p"])
    assert spark.read.format("delta").load(str(tmp_path / "t")).columns == ["p", "id"]


def test_every_name_of_a_table(spark: SparkSession, tmp_path: Path) -> None:
    path = numbers(tmp_path / "t")
    spark.sql(f"CREATE TABLE every_name USING delta LOCATION '{path}'")
    try:
        assert spark.table("every_name").count() == 30
        assert spark.sql("SELECT sum(id) FROM every_name").first()[0] == 435
        assert spark.sql(f"SELECT sum(id) FROM delta.`{path}`").first()[0] == 435
        assert spark.read.format("delta").load(path.as_uri()).count() == 30
        assert [r.col_name for r in spark.sql("DESCRIBE every_name").collect()][:3] == ["id", "p", "x"]
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW every_view USING delta OPTIONS (path '{path}')")
        assert spark.table("every_view").count() == 30
    finally:
        spark.sql("DROP TABLE every_name")
    assert spark.read.format("delta").load(str(path)).count() == 30, "DROP TABLE keeps the files"


def test_a_plain_parquet_table_beside_it_is_untouched(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE beside USING parquet AS SELECT 1 AS a")
    try:
        spark.sql("INSERT INTO beside VALUES (2)")
        assert spark.table("beside").count() == 2
    finally:
        spark.sql("DROP TABLE beside")


def test_files_are_pruned_by_partition_and_by_statistics(
    spark: SparkSession, tmp_path: Path, scanned: Callable[[DataFrame], int]
) -> None:
    df = spark.read.format("delta").load(str(numbers(tmp_path / "t", partitioned=True)))
    assert scanned(df) == 15
    assert scanned(df.where("p = '3'")) == 3
    assert scanned(df.where("id < 10")) == 5
    assert scanned(df.where("p = '3' and id < 10")) == 1
    assert scanned(df.where("p in ('0', '1') and id >= 20")) == 2
    assert scanned(df.where("not (p = '0')")) == 12
    assert scanned(df.where("p is null")) == 0


def test_files_are_pruned_by_partition_and_data_columns_in_one_condition(
    spark: SparkSession, tmp_path: Path, scanned: Callable[[DataFrame], int]
) -> None:
    path = numbers(tmp_path / "t", partitioned=True)
    df = spark.read.format("delta").load(str(path))
    either = df.where("p = '3' or id < 10")
    assert scanned(either) == 7
    assert either.count() == 14
    assert scanned(df.where("(p = '3' or id < 10) and id < 20")) == 6
    assert scanned(df.where("(p = '3' or id < 10) and p in ('3', '4')")) == 4
    assert scanned(df.where("not (p <> '3' and id >= 10)")) == 7
    assert scanned(df.where("p = '3' or id % 7 = 0")) == 15, "what the core cannot read keeps files"
    # two conditions on one table in one plan, a subquery, and SQL
    assert scanned(either.union(df.where("p = '4' or id >= 20"))) == 14
    query = f"SELECT count(*) FROM delta.`{path}` WHERE id IN (SELECT id FROM delta.`{path}` WHERE p = '3' OR id < 10)"
    assert spark.sql(query).first()[0] == 14
    assert scanned(spark.sql(f"SELECT x FROM delta.`{path}` WHERE p = '3' OR id < 10")) == 7
    assert scanned(df) == 15


def test_a_filter_that_the_core_cannot_read_keeps_files_and_rows(spark: SparkSession, tmp_path: Path) -> None:
    df = spark.read.format("delta").load(str(numbers(tmp_path / "t", partitioned=True)))
    assert df.where("length(p) = 1 and id % 7 = 0").count() == 5
    assert df.where("p = '3' or id % 7 = 0").count() == 10
    assert df.where("not (id % 7 = 0 and p = '0')").count() == 29
    assert df.where("concat(p, 'x') = '3x'").count() == 6


@pytest.mark.parametrize(
    "condition",
    [
        "i = 7",
        "i <=> 7",
        "l > 7",
        "d = 3.5",
        "d > 'NaN'",
        "cast(i as double) < 3.5",
        "cast(i as bigint) = 4",
        "dec >= 1.25",
        "cast(dec as decimal(20, 4)) = 1.25",
        "s = 'v7'",
        "s like 'v1%'",
        "s > 'v5'",
        "bin = X'07'",
        "day = date'2024-01-08'",
        "at >= timestamp'2024-01-08 00:00:00'",
        "at < '2024-01-03'",
        "flag",
        "not flag",
        "i is null",
        "i is not null",
        "st.a = 7",
        "st.b is null",
        "i in (1, 2, null)",
        "i not in (1, 2, 3)",
        "i between 3 and 5",
        "coalesce(i, 0) = 0",
        "(i > 3 and s > 'v5') is null",
        "(i > 3 or (flag and i > 2)) is null",
        "not ((i > 3 or s like 'v1%') is null)",
        "(i > 3 and l % 2 = 0) is not null",
    ],
)
def test_filters_of_every_type_agree_with_plain_parquet(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, condition: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "typed"
    if not path.exists():
        for n in range(10):
            append(path, _typed(n))
    everything = spark.read.parquet(*[str(f) for f in path.glob("*.parquet")])
    df = spark.read.format("delta").load(str(path))
    want = sorted(r.l for r in everything.where(condition).collect())
    assert sorted(r.l for r in df.where(condition).collect()) == want


def _typed(n: int) -> dict[str, pa.Array]:
    return {
        "i": pa.array([n or None], pa.int32()),
        "l": pa.array([n], pa.int64()),
        "d": pa.array([n / 2 if n else float("nan")], pa.float64()),
        "dec": pa.array([n * 25], pa.int64()).cast(pa.decimal128(20, 0)).cast(pa.decimal128(20, 2)),
        "s": pa.array([f"v{n}"]),
        "bin": pa.array([bytes([n])], pa.binary()),
        "day": pa.array([dt.date(2024, 1, n + 1)]),
        "at": pa.array([dt.datetime(2024, 1, n + 1, tzinfo=dt.timezone.utc)], pa.timestamp("us", "UTC")),
        "flag": pa.array([n % 2 == 0]),
        "st": pa.array([{"a": n, "b": None if n == 3 else "x"}]),
    }


def test_partition_values_of_every_type(spark: SparkSession, tmp_path: Path) -> None:
    log = Log(tmp_path / "t")
    types = {
        "i": ("integer", "7", 7),
        "s": ("string", "a=b/c%20 é", "a=b/c%20 é"),
        "day": ("date", "2024-01-31", dt.date(2024, 1, 31)),
        # shown by the session: Python would have it in the zone of the machine
        "at": ("timestamp", "2024-01-31 12:30:00.123456", "2024-01-31 12:30:00.123456"),
        "flag": ("boolean", "true", True),
        "b": ("binary", "xy", bytearray(b"xy")),
        "none": ("string", "", None),
    }
    fields = [field("v", "long"), *[field(n, t) for n, (t, _, _) in types.items()]]
    values = {n: text for n, (_, text, _) in types.items()}
    data = pa.table({"v": pa.array([1], pa.int64())})
    log.commit(
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        log.metadata(fields, tuple(types)),
        log.add("a b%.parquet", data, path="a%20b%25.parquet", partitionValues=values),
    )
    df = spark.read.format("delta").load(str(log.path))
    row = df.withColumn("at", df["at"].cast("string")).first()
    assert {n: row[n] for n in types} == {n: value for n, (_, _, value) in types.items()}
    assert (
        df.where("at > timestamp'2024-01-31 12:30:00' and day = '2024-01-31' and none is null").count() == 1
    )
    assert df.where("s = 'other'").count() == 0


def test_timestamp_partitions_are_read_and_filtered_in_the_sessions_time_zone(
    spark: SparkSession, tmp_path: Path, setting: Callable[[str, str], None]
) -> None:
    append(tmp_path / "t", {"v": [1]})
    log = Log(tmp_path / "z")
    data = pa.table({"v": pa.array([1], pa.int64())})
    log.commit(
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        log.metadata([field("v", "long"), field("at", "timestamp")], ("at",)),
        log.add("a.parquet", data, partitionValues={"at": "2024-01-31 23:00:00"}),
    )
    setting("spark.sql.session.timeZone", "America/New_York")
    df = spark.read.format("delta").load(str(log.path))
    assert df.where("at = timestamp'2024-01-31 23:00:00'").count() == 1
    assert df.where("at = timestamp'2024-02-01 04:00:00 UTC'").count() == 1
    assert df.where("at = timestamp'2024-01-31 23:00:00 UTC'").count() == 0


def test_time_travel(spark: SparkSession, tmp_path: Path) -> None:
    path = str(numbers(tmp_path / "t"))
    reader = spark.read.format("delta")
    assert spark.read.format("delta").option("versionAsOf", 1).load(path).count() == 20
    assert spark.read.format("delta").option("versionAsOf", "0").load(path).count() == 10
    assert spark.sql(f"SELECT * FROM delta.`{path}` VERSION AS OF 1").count() == 20
    assert reader.load(f"{path}@v0").count() == 10
    # the commits are made older than they are, so that timestamps tell them apart
    now = dt.datetime.now(tz=dt.timezone.utc).replace(microsecond=0)
    import os

    for version in range(3):
        at = (now - dt.timedelta(days=3 - version)).timestamp()
        os.utime(f"{path}/_delta_log/{version:020}.json", (at, at))
    between = (now - dt.timedelta(days=2)).strftime("%Y-%m-%d %H:%M:%S")
    assert spark.read.format("delta").option("timestampAsOf", between).load(path).count() == 20
    assert spark.sql(f"SELECT * FROM delta.`{path}` TIMESTAMP AS OF '{between}'").count() == 20
    with pytest.raises(TimestampOutOfRangeError):
        _ = spark.read.format("delta").option("timestampAsOf", "2001-01-01").load(path).schema


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"versionAsOf": "7"}, VersionNotFoundError),
        ({"versionAsOf": "x"}, InvalidTimeTravelError),
        ({"versionAsOf": "-1"}, InvalidTimeTravelError),
        ({"timestampAsOf": "soon"}, InvalidTimeTravelError),
        ({"versionAsOf": "0", "timestampAsOf": "2030-01-01"}, InvalidTimeTravelError),
        ({"readChangeFeed": "true"}, InvalidArgumentError),
    ],
)
def test_time_travel_is_never_ignored(
    spark: SparkSession, tmp_path: Path, options: dict[str, str], error: type[Exception]
) -> None:
    path = str(numbers(tmp_path / "t", commits=1))
    with pytest.raises(error):
        _ = spark.read.format("delta").options(**options).load(path).schema


def test_two_time_travels_contradict_each_other(spark: SparkSession, tmp_path: Path) -> None:
    path = str(numbers(tmp_path / "t", commits=2))
    with pytest.raises(InvalidTimeTravelError):
        _ = spark.read.format("delta").option("versionAsOf", 0).load(f"{path}@v1").schema


def test_errors_are_the_classes_of_deltaic(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(TableNotFoundError) as by_reader:
        _ = spark.read.format("delta").load(str(tmp_path / "none")).schema
    assert str(tmp_path / "none") in str(by_reader.value)
    with pytest.raises(TableNotFoundError):
        _ = spark.sql(f"SELECT * FROM delta.`{tmp_path}/none`").schema
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("of another format")
    with pytest.raises(TableNotFoundError):
        spark.sql(f"CREATE TABLE nothing_there USING delta LOCATION '{tmp_path}/other'")
    assert not spark.catalog.tableExists("nothing_there")


def test_a_dataframe_that_failed_fails_the_same_way_again(spark: SparkSession, tmp_path: Path) -> None:
    """Spark keeps what the planning of a DataFrame threw, and throws it again."""
    append(tmp_path / "t", {"id": [1]})
    df = spark.read.format("delta").load(str(tmp_path / "t"))
    text = spark.sql("SELECT 'text' AS id").write.format("delta")
    text.mode("overwrite").option("overwriteSchema", "true").save(str(tmp_path / "t"))
    failures = []
    for _ in range(3):
        with pytest.raises(SchemaChangedError) as failure:
            df.collect()
        failures.append(failure.value)
    assert {f.getCondition() for f in failures} == {"DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS"}
    assert len({str(f) for f in failures}) == 1
    # none holds the frames of another
    assert len({id(f) for f in failures}) == 3


def test_a_read_sees_new_commits_also_by_a_dataframe_of_before(spark: SparkSession, tmp_path: Path) -> None:
    path = numbers(tmp_path / "t", commits=1)
    spark.sql(f"CREATE TABLE moving USING delta LOCATION '{path}'")
    try:
        df = spark.read.format("delta").load(str(path))
        assert spark.table("moving").count() == 10
        append(path, {"id": [99], "p": ["9"], "x": [1.0]})
        assert spark.table("moving").count() == 11
        assert spark.sql(f"SELECT * FROM delta.`{path}`").count() == 11
        assert spark.read.format("delta").load(str(path)).count() == 11
        assert df.count() == 11
    finally:
        spark.sql("DROP TABLE moving")


def test_a_table_made_again_at_the_same_path_is_read_again(spark: SparkSession, tmp_path: Path) -> None:
    import shutil

    append(tmp_path / "t", {"id": [1]})
    assert [r.id for r in spark.read.format("delta").load(str(tmp_path / "t")).collect()] == [1]
    shutil.rmtree(tmp_path / "t")
    append(tmp_path / "t", {"id": [2]})
    assert [r.id for r in spark.read.format("delta").load(str(tmp_path / "t")).collect()] == [2]


def test_caches_know_the_table_whatever_its_version_and_follow_commits_of_the_session(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = numbers(tmp_path / "t", commits=1)
    cached = spark.read.format("delta").load(str(path)).cache()
    try:
        assert cached.count() == 10
        again = spark.read.format("delta").load(str(path))
        assert "InMemoryTableScan" in plans.physical(again)
        append(path, {"id": [99], "p": ["9"], "x": [1.0]})
        assert spark.read.format("delta").load(str(path)).count() == 10
        deltaic.save(again.where("id < 0"), str(path), mode="append")
        spark.sql(f"DELETE FROM delta.`{path}` WHERE id = 0")
        assert cached.count() == spark.read.format("delta").load(str(path)).count() == 10
        assert cached.where("id = 99").count() == 1
    finally:
        cached.unpersist()


def test_joins_subqueries_and_views(spark: SparkSession, tmp_path: Path) -> None:
    path = numbers(tmp_path / "t", partitioned=True)
    df = spark.read.format("delta").load(str(path))
    df.createOrReplaceTempView("numbers_view")
    assert spark.sql("SELECT * FROM numbers_view a JOIN numbers_view b ON a.id = b.id").count() == 30
    assert df.alias("a").join(df.alias("b"), "id").count() == 30
    query = f"SELECT * FROM delta.`{path}` WHERE id > (SELECT max(id) - 3 FROM numbers_view WHERE p = '4')"
    assert sorted(r.id for r in spark.sql(query).collect()) == [27, 28, 29]


def test_dynamic_partition_pruning(
    spark: SparkSession, tmp_path: Path, scanned: Callable[[DataFrame], int]
) -> None:
    path = numbers(tmp_path / "t", partitioned=True)
    append(tmp_path / "d", {"k": ["3", "4"], "name": ["three", "four"]})
    query = (
        f"SELECT f.id FROM delta.`{path}` f JOIN delta.`{tmp_path}/d` d ON f.p = d.k WHERE d.name = 'three'"
    )
    df = spark.sql(query)
    assert sorted(r.id for r in df.collect()) == [3, 8, 13, 18, 23, 28]
    assert "dynamicpruning" in plans.physical(df)
    assert scanned(df) < 15


def test_metadata_columns(spark: SparkSession, tmp_path: Path) -> None:
    path = numbers(tmp_path / "t", commits=1)
    (name,) = (f.name for f in path.glob("*.parquet"))
    df = spark.read.format("delta").load(str(path))
    row = df.where("id = 4").select("_metadata.*").first()
    assert row.file_name == name
    assert row.file_path.endswith(f"/{name}")
    assert row.row_index == 4
    assert row.file_size == (path / name).stat().st_size
    assert df.inputFiles() == [row.file_path]


def test_missing_columns_are_null_and_types_are_widened(spark: SparkSession, tmp_path: Path) -> None:
    log = Log(tmp_path / "t")
    old = pa.table({"i": pa.array([1], pa.int32())})
    new = pa.table({"i": pa.array([2**40], pa.int64()), "extra": ["x"]})
    log.commit(
        log.protocol("typeWidening"),
        log.metadata([field("i", "long"), field("extra", "string")]),
        log.add("old.parquet", old),
        log.add("new.parquet", new),
    )
    df = spark.read.format("delta").load(str(log.path))
    assert sorted(tuple(r) for r in df.collect()) == [(1, None), (2**40, "x")]
    assert df.where("i < 3000000000").count() == 1


def test_new_sessions_have_it_too(spark: SparkSession, another: Any, tmp_path: Path) -> None:
    path = numbers(tmp_path / "t")
    other = another()
    assert other.read.format("delta").load(str(path)).count() == 30
    assert other.sql(f"SELECT * FROM delta.`{path}` VERSION AS OF 0").count() == 10
    other.sql(f"DELETE FROM delta.`{path}` WHERE p = '0'")
    assert other.sql(f"SELECT * FROM delta.`{path}`").count() == spark.table(f"delta.`{path}`").count() < 30


def test_enable_is_idempotent_and_returns_the_session(
    spark: SparkSession, another: Any, tmp_path: Path
) -> None:
    path = numbers(tmp_path / "t")
    assert deltaic.enable(spark) is spark
    other = another()
    assert deltaic.enable(deltaic.enable(other)) is other
    assert other.sql(f"SELECT * FROM delta.`{path}`").count() == 30


def test_enable_refuses_what_is_no_session() -> None:
    with pytest.raises(deltaic.exceptions.InvalidArgumentError, match="not a Spark session"):
        deltaic.enable(object())


def test_many_threads_read_at_once(spark: SparkSession, tmp_path: Path) -> None:
    path = str(numbers(tmp_path / "t"))
    counts: list[int] = []

    def read() -> None:
        counts.append(spark.read.format("delta").load(path).where("id < 25").count())

    threads = [threading.Thread(target=read) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert counts == [25] * 8
