"""Tables by name in a session whose catalog is Hive's, with an embedded Derby: `python hive_catalog.py FOLDER`.

Each step prints a line when it has held; an exception ends the process.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import small_session

import deltaic
from deltaic.exceptions import UnsupportedError


def session(folder: Path) -> Any:
    own = {
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}/derby",
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
    }
    return small_session.session("local[2]", own)


def rows(spark: Any, name: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in spark.table(name).collect())


def managed(spark: Any, folder: Path) -> None:
    spark.sql("CREATE TABLE managed (id BIGINT, p STRING) USING delta PARTITIONED BY (p)")
    spark.sql("INSERT INTO managed VALUES (1, 'a'), (2, 'b')")
    assert rows(spark, "managed") == [(1, "a"), (2, "b")]
    assert [r[0] for r in spark.sql("SHOW PARTITIONS managed").collect()] == ["a", "b"]
    spark.sql("DELETE FROM managed WHERE id = 1")
    assert rows(spark, "managed") == [(2, "b")]
    assert (folder / "warehouse" / "managed" / "_delta_log").exists()


def as_select_renamed_and_dropped(spark: Any, folder: Path) -> None:
    spark.sql("CREATE TABLE made USING delta AS SELECT * FROM managed")
    spark.sql("CREATE OR REPLACE TABLE made USING delta AS SELECT id, 'x' AS y FROM made")
    spark.sql("ALTER TABLE made RENAME TO renamed")
    assert rows(spark, "renamed") == [(2, "x")]
    assert not spark.catalog.tableExists("made")
    spark.range(3).write.format("delta").mode("append").option("mergeSchema", "true").saveAsTable("renamed")
    assert spark.table("renamed").count() == 4
    spark.sql("DROP TABLE renamed")
    assert [f.name for f in (folder / "warehouse").iterdir()] == ["managed"]


def external(spark: Any, folder: Path) -> None:
    place = folder / "external"
    spark.sql(f"CREATE TABLE external (a INT) USING delta LOCATION '{place}'")
    spark.sql("INSERT INTO external VALUES (1)")
    spark.sql("ALTER TABLE external ADD COLUMN b STRING")
    # another writer
    deltaic.write(place, pa.table({"a": pa.array([5], pa.int32()), "b": ["q"]}), mode="append")
    deltaic.Table(place).add_columns("c DATE")
    assert rows(spark, "external") == [(1, None, None), (5, "q", None)]
    assert spark.newSession().table("external").columns == ["a", "b", "c"]
    spark.sql("DROP TABLE external")
    assert (place / "_delta_log").exists()
    spark.sql(f"CREATE TABLE external USING delta LOCATION '{place}'")
    assert spark.table("external").count() == 2


def writes_of_hive_stay_out(spark: Any, folder: Path) -> None:
    place = folder / "warehouse" / "managed"
    before = sorted(place.rglob("*"))
    spark.sql(f"CREATE TABLE bare (id BIGINT) STORED AS PARQUET LOCATION '{place}/p=b'")
    for statement in (
        "INSERT INTO bare VALUES (1)",
        f"INSERT OVERWRITE DIRECTORY '{place}' STORED AS PARQUET SELECT 1",
        f"INSERT OVERWRITE LOCAL DIRECTORY '{place}' ROW FORMAT DELIMITED SELECT 1",
    ):
        try:
            spark.sql(statement)
        except UnsupportedError:
            continue
        raise AssertionError(statement)
    assert sorted(place.rglob("*")) == before
    assert rows(spark, "managed") == [(2, "b")]


def converted(spark: Any, folder: Path) -> None:
    """Tables of Spark's Parquet, and of Hive's own."""
    for name, made in (
        ("sparks", "USING parquet PARTITIONED BY (p)"),
        ("hives", "PARTITIONED BY (p) STORED AS PARQUET"),
    ):
        spark.sql(f"CREATE TABLE {name} (id BIGINT, p STRING) {made} TBLPROPERTIES ('a' = 'b')")
        spark.sql(f"INSERT INTO {name} VALUES (1, 'a'), (2, 'b')")
        spark.sql(f"CONVERT TO DELTA {name}")
        spark.sql(f"CONVERT TO DELTA default.{name} PARTITIONED BY (p STRING)")
        spark.sql(f"INSERT INTO {name} VALUES (3, 'c')")
        spark.sql(f"DELETE FROM {name} WHERE id = 1")
        assert rows(spark, name) == [(2, "b"), (3, "c")]
        table = deltaic.Table(folder / "warehouse" / name)
        assert list(table.metadata.partition_columns) == ["p"]
        assert table.metadata.configuration["a"] == "b"
        said = {row[0]: row[1] for row in spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()}
        assert said["Provider"] == "delta"
        spark.sql(f"DROP TABLE {name}")


def main(folder: Path) -> None:
    spark = session(folder)
    assert spark.conf.get("spark.sql.catalogImplementation") == "hive"
    for step in (managed, as_select_renamed_and_dropped, external, writes_of_hive_stay_out, converted):
        step(spark, folder)
        print(step.__name__, flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
