"""Every statement of Spark's grammar that writes, on one of our tables by name and by path.

Each of them either makes commits that list all files that are there, or is refused and leaves all as it was.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest
from bridge_tables import data_files
from pyspark.errors import PySparkException

import deltaic
from deltaic.exceptions import DeltaError, InvalidArgumentError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

ROW = "SELECT 5L AS id, '9' AS p, 1.5D AS x"
BEFORE_43 = tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 3)

# the statement, and the number of its commits
COMMITS: dict[str, int] = {
    "INSERT INTO {t} VALUES (100, '9', 1.5)": 1,
    "INSERT INTO {t} TABLE other": 1,
    "INSERT INTO TABLE {t} SELECT * FROM other": 1,
    "INSERT INTO {t} (x, id, p) VALUES (1.5, 100, '9')": 1,
    "INSERT INTO {t} BY NAME SELECT 1.5D AS x, '9' AS p, 100L AS id": 1,
    "INSERT INTO {t} PARTITION (p = '7') VALUES (100, 1.5)": 1,
    "INSERT OVERWRITE {t} PARTITION (p = '7') VALUES (100, 1.5)": 1,
    "INSERT OVERWRITE {t} PARTITION (p) SELECT id, p, x FROM other": 1,
    "INSERT OVERWRITE {t} VALUES (100, '9', 1.5)": 1,
    "INSERT OVERWRITE TABLE {t} BY NAME SELECT 1.5D AS x, '9' AS p, 100L AS id": 1,
    "INSERT INTO {t} REPLACE WHERE p = '9' SELECT 1L, '9', 1.5D": 1,
    "FROM other INSERT INTO {t} SELECT id, p, x": 1,
    "FROM other INSERT OVERWRITE {t} SELECT id, p, x INSERT INTO TABLE {t} SELECT id, p, x": 2,
    "WITH c AS (SELECT * FROM other) INSERT INTO {t} SELECT * FROM c": 1,
    "TRUNCATE TABLE {t}": 1,
    "DELETE FROM {t} WHERE id = 1": 1,
    "UPDATE {t} SET x = 0 WHERE id = 1": 1,
    "MERGE INTO {t} AS t USING other AS o ON t.id = o.id WHEN MATCHED THEN DELETE": 1,
    "CREATE OR REPLACE TABLE {t} (a INT) USING delta": 1,
    "REPLACE TABLE {t} (a INT) USING delta": 1,
    "CREATE OR REPLACE TABLE {t} USING delta AS SELECT * FROM {t}": 1,
    "REPLACE TABLE {t} USING delta PARTITIONED BY (x) AS SELECT * FROM {t}": 1,
    "CREATE TABLE IF NOT EXISTS {t} (a INT) USING delta": 0,
    "CREATE TABLE made (id BIGINT, p STRING, x DOUBLE) USING delta PARTITIONED BY (p) LOCATION '{d}'": 0,
    "CREATE TABLE made LIKE {t}": 0,
    "CREATE TABLE made LIKE {t} USING parquet": 0,
    "CREATE TABLE made LIKE {t} LOCATION '{d}'": 0,
    "CREATE TABLE IF NOT EXISTS {t} LIKE bare USING delta": 0,
    "CREATE VIEW made AS SELECT * FROM {t}": 0,
    "CREATE TEMPORARY VIEW seen USING delta OPTIONS (path '{d}')": 0,
    "CACHE TABLE {t}": 0,
    "UNCACHE TABLE IF EXISTS {t}": 0,
    "REFRESH TABLE {t}": 0,
    "ANALYZE TABLES COMPUTE STATISTICS": 0,
    "ALTER TABLE {t} SET TBLPROPERTIES ('a' = 'b')": 1,
    "ALTER TABLE {t} UNSET TBLPROPERTIES IF EXISTS ('nope')": 0,
    "ALTER TABLE {t} ADD COLUMN more INT": 1,
    "ALTER TABLE {t} ADD COLUMNS (more INT, less STRING)": 1,
    "ALTER TABLE {t} REPLACE COLUMNS (x DOUBLE, id BIGINT, p STRING, more INT)": 1,
    "ALTER TABLE {t} ALTER COLUMN x COMMENT 'c'": 1,
    "ALTER TABLE {t} ALTER COLUMN x DROP DEFAULT": 0,
    "COMMENT ON TABLE {t} IS 'x'": 1,
    "ALTER TABLE {t} CHANGE COLUMN x x DOUBLE COMMENT 'c'": 1,
    "ALTER TABLE {t} ADD CONSTRAINT c CHECK (id >= 0)": 1,
}

# what writes files of other formats into the folder of the table
ELSEWHERE = (
    "INSERT OVERWRITE DIRECTORY '{d}' USING parquet " + ROW,
    "INSERT OVERWRITE LOCAL DIRECTORY '{d}' USING parquet " + ROW,
    "INSERT OVERWRITE DIRECTORY USING csv OPTIONS (path '{d}') " + ROW,
    "INSERT OVERWRITE DIRECTORY '{d}/below/it' USING parquet " + ROW,
    "INSERT OVERWRITE DIRECTORY '{d}/_delta_log' USING json " + ROW,
    "CREATE TABLE made USING parquet LOCATION '{d}/below' AS " + ROW,
    "INSERT INTO bare SELECT 5",
    "INSERT OVERWRITE bare SELECT 5",
)

# the statement, what the error calls it, and what it says to write instead
REFUSED: dict[str, tuple[str, str]] = {
    "INSERT OVERWRITE {t} PARTITION (p = '7') IF NOT EXISTS VALUES (100, 1.5)": (
        "INSERT OVERWRITE … PARTITION … IF NOT EXISTS",
        "leave IF NOT EXISTS out",
    ),
    "INSERT INTO {t}@v0 VALUES (100, '9', 1.5)": ("INSERT into an old version", "name the table without"),
    "INSERT OVERWRITE DIRECTORY '{d}' USING delta " + ROW: (
        "INSERT OVERWRITE DIRECTORY … USING delta",
        "INSERT OVERWRITE delta.`path`",
    ),
    "INSERT OVERWRITE LOCAL DIRECTORY '{d}' USING delta " + ROW: (
        "INSERT OVERWRITE DIRECTORY … USING delta",
        "INSERT OVERWRITE delta.`path`",
    ),
    **dict.fromkeys(
        ELSEWHERE, ("a write of files of another format into a Delta table", "INSERT INTO delta.`path`")
    ),
    "LOAD DATA LOCAL INPATH '{s}' INTO TABLE {t}": ("LOAD DATA", "INSERT INTO"),
    "LOAD DATA LOCAL INPATH '{s}' OVERWRITE INTO TABLE {t} PARTITION (p = '9')": ("LOAD DATA", "INSERT INTO"),
    "TRUNCATE TABLE {t} PARTITION (p = '1')": ("TRUNCATE TABLE … PARTITION", "DELETE FROM … WHERE"),
    "ALTER TABLE {t} ADD PARTITION (p = 'new')": ("ADD PARTITION", "INSERT INTO"),
    "ALTER TABLE {t} ADD IF NOT EXISTS PARTITION (p = 'new') LOCATION '{d}/new'": (
        "ADD PARTITION",
        "INSERT INTO",
    ),
    "ALTER TABLE {t} DROP PARTITION (p = '1')": ("DROP PARTITION", "DELETE FROM … WHERE"),
    "ALTER TABLE {t} DROP IF EXISTS PARTITION (p = '1') PURGE": ("DROP PARTITION", "DELETE FROM … WHERE"),
    "ALTER TABLE {t} PARTITION (p = '1') RENAME TO PARTITION (p = '2')": (
        "RENAME TO PARTITION",
        "UPDATE … SET",
    ),
    "ALTER TABLE {t} RECOVER PARTITIONS": ("RECOVER PARTITIONS", "nothing is to be recovered"),
    "MSCK REPAIR TABLE {t}": ("MSCK REPAIR TABLE", "nothing is to be repaired"),
    "MSCK REPAIR TABLE {t} SYNC PARTITIONS": ("MSCK REPAIR TABLE", "nothing is to be repaired"),
    "ANALYZE TABLE {t} COMPUTE STATISTICS": ("ANALYZE TABLE", "every write keeps statistics"),
    "ANALYZE TABLE {t} COMPUTE STATISTICS FOR ALL COLUMNS": ("ANALYZE TABLE", "every write keeps statistics"),
    "ANALYZE TABLE {t} PARTITION (p) COMPUTE STATISTICS": ("ANALYZE TABLE", "every write keeps statistics"),
    "CREATE TABLE made LIKE {t} STORED AS parquet": ("STORED AS", "USING"),
    "CREATE INDEX i ON TABLE {t} (id)": ("CREATE INDEX", "ZORDER BY"),
    "DROP INDEX i ON TABLE {t}": ("DROP INDEX", "no indexes"),
    "ALTER TABLE {t} PARTITION (p = '1') SET LOCATION '{d}2'": ("SET LOCATION", "DROP TABLE and CREATE"),
    "ALTER TABLE {t} SET SERDE 'some.Serde'": ("SET SERDE", "SET TBLPROPERTIES"),
    "ALTER TABLE {t} SET SERDEPROPERTIES ('a' = 'b')": ("SET SERDE", "SET TBLPROPERTIES"),
    "ALTER TABLE {t} PARTITION (p = '1') SET SERDEPROPERTIES ('a' = 'b')": ("SET SERDE", "SET TBLPROPERTIES"),
    "CREATE TABLE made CLONE {t}": ("deep clone", "SHALLOW CLONE"),
    "CREATE TABLE made (a INT) USING delta CLUSTERED BY (a) INTO 4 BUCKETS": ("bucket", "generated column"),
}

# what is refused by other errors of ours, or by Spark itself: the statement, and what the error says
WRONG: dict[str, str] = {
    "ALTER TABLE {t} ALTER COLUMN x SET DEFAULT 5": "allowColumnDefaults",
    "INSERT INTO {t} SELECT 1L": "",
    "INSERT INTO {t} PARTITION (p = '7') IF NOT EXISTS VALUES (100, 1.5)": "IF NOT EXISTS",
    "INSERT INTO parquet.`{d}` " + ROW: "",
    "ALTER TABLE {t} ADD COLUMN more INT DEFAULT 5": "cannot be added with a default",
    "ALTER TABLE {t} DROP COLUMN x": "column mapping",
    "ALTER TABLE {t} RENAME COLUMN x TO y": "column mapping",
    "ALTER TABLE {t} ALTER COLUMN x TYPE STRING": "",
    "ALTER TABLE {t} ALTER COLUMN x SET NOT NULL": "nullable",
    "ALTER TABLE {t} ALTER COLUMN id COMMENT 'a', x TYPE STRING": "",
    "ALTER TABLE {t} ALTER COLUMN id COMMENT 'a', x SET DEFAULT 5": "allowColumnDefaults",
    "ALTER TABLE {t} ALTER COLUMN id COMMENT 'a', id FIRST": "multiple times",
    "ALTER TABLE {t} ADD CONSTRAINT pk PRIMARY KEY (id)": "expected CHECK, found `PRIMARY`",
    "ALTER TABLE {t} ADD CONSTRAINT u UNIQUE (id)": "expected CHECK, found `UNIQUE`",
    "ALTER TABLE {t} ADD CHECK (id >= 0)": "expected CONSTRAINT and a name, found `CHECK`",
    "ALTER TABLE {t} DROP CONSTRAINT nope": "no constraint has this name",
    "ALTER TABLE {t} CLUSTER BY (x)": "partitioned",
    "CREATE TABLE {t} (a INT) USING delta": "already",
    "CREATE TABLE {t} LIKE bare USING delta": "already",
    "CREATE TABLE made LIKE bare USING delta LOCATION '{d}'": "gives the columns",
    "CREATE OR REPLACE TABLE {t} (a INT) USING parquet": "",
    "CREATE OR REPLACE TABLE {t} USING parquet AS SELECT 1 AS a": "",
    "CREATE TABLE made (a INT) USING delta LOCATION '{d}'": "gives the columns",
    "CREATE TABLE made USING delta LOCATION '{d}' AS SELECT 1 AS a": "already",
    "CREATE TABLE made USING parquet LOCATION '{d}' AS " + ROW: "",
    "CREATE TEMPORARY TABLE made (id BIGINT) USING delta": "",
    "DROP VIEW {t}": "",
}


@pytest.fixture
def path(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """A table as `table_at` makes it."""
    yield from table_at(spark, tmp_path)


@pytest.fixture(scope="class")
def kept(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One table for all statements that change nothing."""
    yield from table_at(spark, tmp_path_factory.mktemp("kept"))


def table_at(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """A partitioned table, which is also known as `target`, and as `bare` to Spark's Parquet."""
    path = tmp_path / "t"
    rows = {
        "id": pa.array(range(6), pa.int64()),
        "p": [str(i % 3) for i in range(6)],
        "x": [float(i) for i in range(6)],
    }
    deltaic.write(path, pa.table(rows), partition_by=["p"])
    pq.write_table(pa.table({"id": pa.array([5], pa.int64())}), tmp_path / "source.parquet")
    spark.sql(f"CREATE TABLE target USING delta LOCATION '{path}'")
    spark.sql(f"CREATE TABLE bare (id BIGINT) USING parquet LOCATION '{path}/p=1'")
    spark.sql(ROW).createOrReplaceTempView("other")
    yield path
    spark.catalog.clearCache()
    for name in ("seen", "other"):
        spark.catalog.dropTempView(name)
    for name in ("target", "bare"):
        spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql("DROP VIEW IF EXISTS made" if is_view(spark) else "DROP TABLE IF EXISTS made")


def is_view(spark: SparkSession) -> bool:
    return any(view.viewName == "made" and not view.isTemporary for view in spark.sql("SHOW VIEWS").collect())


def written(statement: str, path: Path, by: str) -> str:
    table = "target" if by == "name" else f"delta.`{path}`"
    if "{t}@v0" in statement:
        table = f"delta.`{path}@v0`"
        return statement.replace("{t}@v0", table)
    return statement.format(t=table, d=path, s=path.with_name("source.parquet"))


def everything(path: Path) -> set[str]:
    return {str(f) for f in path.parent.rglob("*") if f.is_file()}


def assert_explained(path: Path, commits: int) -> None:
    """All files of the table are in its log, which has so many commits behind the first one."""
    log = sorted((path / "_delta_log").glob("*.json"))
    assert [int(f.stem) for f in log] == list(range(commits + 1))
    said = "".join(f.read_text() for f in log)
    # Hadoop's checksums of local files are hidden
    names = {f.rpartition("/")[2].removeprefix(".").removesuffix(".crc") for f in data_files(path)}
    assert [name for name in names if name not in said] == []
    deltaic.Table(path).verify(deep=True)


def by_name_and_path(statements: dict[str, object]) -> list[tuple[str, str]]:
    return [(s, by) for s in statements for by in (("name", "path") if "{t}" in s else ("path",))]


class TestNothingChanges:
    @pytest.mark.parametrize(("statement", "by"), by_name_and_path(REFUSED))
    def test_what_is_refused_leaves_all_as_it_was(
        self, spark: SparkSession, kept: Path, statement: str, by: str
    ) -> None:
        what, instead = REFUSED[statement]
        before = everything(kept)
        with pytest.raises(
            UnsupportedError, match=rf"{re.escape(what)}.* not supported: .*{re.escape(instead)}"
        ):
            spark.sql(written(statement, kept, by)).collect()
        assert everything(kept) == before
        assert_explained(kept, 0)
        assert not spark.catalog.tableExists("made")

    @pytest.mark.parametrize(("statement", "by"), by_name_and_path(WRONG))
    def test_what_is_wrong_leaves_all_as_it_was(
        self, spark: SparkSession, kept: Path, statement: str, by: str
    ) -> None:
        before = everything(kept)
        with pytest.raises((DeltaError, PySparkException), match=re.escape(WRONG[statement]) or None):
            spark.sql(written(statement, kept, by)).collect()
        assert everything(kept) == before
        assert_explained(kept, 0)
        assert not spark.catalog.tableExists("made")


@pytest.mark.parametrize(("statement", "by"), by_name_and_path(COMMITS))
def test_what_is_written_is_committed(spark: SparkSession, path: Path, statement: str, by: str) -> None:
    spark.sql(written(statement, path, by)).collect()
    assert_explained(path, COMMITS[statement])
    assert everything(path) == {str(path.with_name("source.parquet"))} | {
        f for f in everything(path) if "/t/" in f
    }


def test_by_path_a_name_is_neither_taken_nor_changed(spark: SparkSession, path: Path) -> None:
    before = everything(path)
    for statement, instead in (
        ("ALTER TABLE {t} RENAME TO made", "move"),
        ("DROP TABLE {t}", "remove the folder"),
    ):
        with pytest.raises(UnsupportedError, match=f"by path is not supported: {instead}"):
            spark.sql(written(statement, path, "path"))
    assert everything(path) == before
    spark.sql("ALTER TABLE target RENAME TO made")
    spark.sql("DROP TABLE made")
    assert everything(path) == before


def test_other_writers_of_spark_stay_out_of_a_table(spark: SparkSession, path: Path) -> None:
    before = everything(path)
    rows = spark.table("other")
    for place in (path, path / "below"):
        for mode in ("append", "overwrite"):
            for kind in ("parquet", "json"):
                with pytest.raises(UnsupportedError, match="another format into a Delta table"):
                    rows.write.mode(mode).format(kind).save(str(place))
    assert everything(path) == before
    rows.write.parquet(str(path.with_name("beside")))
    assert path.with_name("beside").exists()


@pytest.mark.skipif(BEFORE_43, reason="the grammar of this Spark lacks it")
class TestSpark43:
    @pytest.mark.parametrize("by", ["name", "path"])
    @pytest.mark.parametrize(
        ("statement", "rows"),
        [
            ("INSERT WITH SCHEMA EVOLUTION INTO {t} SELECT 9L, '9', 1.5D, named_struct('a', 1) AS more", 7),
            (
                "INSERT WITH SCHEMA EVOLUTION INTO {t} BY NAME SELECT named_struct('a', 1) AS more, 9L AS id",
                7,
            ),
            ("INSERT WITH SCHEMA EVOLUTION INTO {t} (x, more, id) SELECT 1.5D, named_struct('a', 1), 9L", 7),
            (
                "INSERT WITH SCHEMA EVOLUTION OVERWRITE {t} SELECT 9L, '9', 1.5D, named_struct('a', 1) AS more",
                1,
            ),
        ],
    )
    def test_columns_join(self, spark: SparkSession, path: Path, statement: str, rows: int, by: str) -> None:
        spark.sql(written(statement, path, by))
        assert_explained(path, 1)
        found = {r.id: r.more for r in spark.table("target").collect()}
        assert len(found) == rows
        assert found[9].a == 1

    @pytest.mark.parametrize("by", ["name", "path"])
    def test_columns_join_in_a_partition(self, spark: SparkSession, path: Path, by: str) -> None:
        statement = "INSERT WITH SCHEMA EVOLUTION INTO {t} PARTITION (p = '1') SELECT 9L, 1.5D, 2 AS n"
        spark.sql(written(statement, path, by))
        assert_explained(path, 1)
        assert [tuple(r) for r in spark.table("target").where("id = 9").collect()] == [(9, "1", 1.5, 2)]


class TestShowPartitions:
    def test_of_the_log(self, spark: SparkSession, path: Path) -> None:
        for table in ("target", f"delta.`{path}`"):
            assert [r.p for r in spark.sql(f"SHOW PARTITIONS {table}").collect()] == ["0", "1", "2"]
            some = spark.sql(f"SHOW PARTITIONS {table} PARTITION (P = '1')")
            assert [r.p for r in some.collect()] == ["1"]
        spark.sql("DELETE FROM target WHERE p = '1'")
        assert [r[0] for r in spark.sql("SHOW PARTITIONS target").collect()] == ["0", "2"]

    def test_of_odd_values(self, spark: SparkSession, tmp_path: Path) -> None:
        spark.sql(
            f"CREATE TABLE delta.`{tmp_path}/t` (d DATE, ab STRING, id INT) USING delta PARTITIONED BY (d, ab)"
            " TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
        )
        spark.sql(f"INSERT INTO delta.`{tmp_path}/t` VALUES (DATE'2026-01-02', 'x/y', 1), (NULL, NULL, 2)")
        shown = spark.sql(f"SHOW PARTITIONS delta.`{tmp_path}/t`")
        assert shown.dtypes == [("d", "date"), ("ab", "string")]
        assert [tuple(r) for r in shown.collect()] == [(None, None), (dt.date(2026, 1, 2), "x/y")]
        some = spark.sql(f"SHOW PARTITIONS delta.`{tmp_path}/t` PARTITION (d = '2026-01-02')")
        assert [r.ab for r in some.collect()] == ["x/y"]

    def test_refused(self, spark: SparkSession, path: Path, tmp_path: Path) -> None:
        deltaic.write(tmp_path / "plain", pa.table({"id": [1]}))
        with pytest.raises(InvalidArgumentError, match="is not partitioned"):
            spark.sql(f"SHOW PARTITIONS delta.`{tmp_path}/plain`")
        with pytest.raises(InvalidArgumentError, match="`nope` is none of the partition columns"):
            spark.sql("SHOW PARTITIONS target PARTITION (nope = '1')")
