"""What a command reads of its own table is its transaction's: whoever changes it first, the outcome is a serial one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import doors
import pyarrow as pa
import pytest
from dml_tables import ids, versions

import deltaic
from deltaic.exceptions import CommitConflictError, InvalidArgumentError, SchemaChangedError
from deltaic.spark.dml.operation import Operation
from deltaic.spark.write import transaction
from deltaic.spark.write.retry import MAX_REPLAYS
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

LEVELS = ["Serializable", "WriteSerializable"]


@pytest.fixture(params=LEVELS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A table of the ids 1, 2, 3 in a file each, with deletion vectors."""
    path = str(tmp_path / "t")
    properties = {"delta.isolationLevel": request.param, "delta.enableDeletionVectors": "true"}
    for n in (1, 2, 3):
        deltaic.write(path, rows(n), configuration=properties if n == 1 else None)
    return path


def rows(*numbers: int) -> pa.Table:
    return pa.table({"id": pa.array(numbers, pa.int64())})


@pytest.fixture
def overtaken(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Lets something else be committed just before the next commit of Spark."""
    commits = [(Operation, "commit"), (transaction, "commit")]

    def by(other: Callable[[], Any]) -> None:
        whole = [(where, name, getattr(where, name)) for where, name in commits]

        def restored() -> None:
            for where, name, commit in whole:
                monkeypatch.setattr(where, name, commit)

        for where, name, commit in whole:

            def later(*args: Any, _commit: Any = commit, **kwargs: Any) -> Any:
                restored()
                other()
                return _commit(*args, **kwargs)

            monkeypatch.setattr(where, name, later)

    return by


@pytest.fixture
def once(spark: SparkSession) -> Iterator[None]:
    spark.conf.set(MAX_REPLAYS, "0")
    yield
    spark.conf.unset(MAX_REPLAYS)


def insert_if_absent(spark: SparkSession, path: str) -> None:
    t = f"delta.`{path}`"
    spark.sql(f"INSERT INTO {t} SELECT s.id FROM (SELECT 9L AS id) s LEFT ANTI JOIN {t} t ON s.id = t.id")


def insert_the_next(spark: SparkSession, path: str) -> None:
    spark.sql(f"INSERT INTO delta.`{path}` SELECT max(id) + 1 FROM delta.`{path}`")


def count_on(spark: SparkSession, path: str) -> None:
    spark.sql(f"UPDATE delta.`{path}` SET id = (SELECT max(id) + 1 FROM delta.`{path}`) WHERE id = 1")


def delete_the_most(spark: SparkSession, path: str) -> None:
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id IN (SELECT max(id) FROM delta.`{path}`)")


def merge_from_itself(spark: SparkSession, path: str) -> None:
    t = f"delta.`{path}`"
    source = f"SELECT max(id) + 10 AS id FROM {t}"
    spark.sql(f"MERGE INTO {t} t USING ({source}) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *")


def merge_new(spark: SparkSession, path: str) -> None:
    t = f"delta.`{path}`"
    spark.sql(
        f"MERGE INTO {t} t USING (SELECT explode(array(2L, 9L)) AS id) s ON t.id = s.id "
        "WHEN NOT MATCHED THEN INSERT *"
    )


def merge_idle(spark: SparkSession, path: str) -> None:
    spark.sql(
        f"MERGE INTO delta.`{path}` t USING (SELECT explode(array(1L, 2L)) AS id) s ON t.id = s.id "
        "WHEN MATCHED AND t.id = 1 THEN UPDATE SET id = 100 WHEN NOT MATCHED THEN INSERT *"
    )


def overwrite_from_itself(spark: SparkSession, path: str) -> None:
    df = spark.read.format("delta").load(path)
    df.selectExpr("id + 100 AS id").write.format("delta").mode("overwrite").save(path)


def replace_from_itself(spark: SparkSession, path: str) -> None:
    # an aggregate reads rows that the condition does not replace
    df = spark.read.format("delta").load(path).selectExpr("max(id) + 100 AS id")
    df.write.format("delta").mode("overwrite").option("replaceWhere", "id > 100").save(path)


def delete(condition: str) -> Callable[[SparkSession, str], Any]:
    return lambda _, path: deltaic.Table(path).delete(condition)


def update_most(_: SparkSession, path: str) -> None:
    # no blind append: it is behind nothing
    deltaic.Table(path).update_rows({"id": "50"}, where="id = 3")


# the command, what comes first, and the rows that follow from the one and then the other
CASES: dict[str, tuple[Callable[[SparkSession, str], Any], Callable[[SparkSession, str], Any], list[int]]] = {
    "insert if absent": (insert_if_absent, lambda s, p: insert_if_absent(s, p), [1, 2, 3, 9]),
    "insert the next": (insert_the_next, update_most, [1, 2, 50, 51]),
    "insert the next behind a delete": (insert_the_next, delete("id = 3"), [1, 2, 3]),
    "update by a subquery": (count_on, update_most, [2, 50, 51]),
    "delete by a subquery": (delete_the_most, update_most, [1, 2]),
    "delete by a subquery behind a delete": (delete_the_most, delete("id = 3"), [1]),
    "merge from itself": (merge_from_itself, update_most, [1, 2, 50, 60]),
    "merge new rows": (merge_new, delete("id = 2"), [1, 2, 3, 9]),
    "merge with idle matches": (merge_idle, delete("id = 2"), [2, 3, 100]),
    "overwrite": (overwrite_from_itself, update_most, [101, 102, 150]),
    "replaceWhere": (replace_from_itself, update_most, [1, 2, 50, 150]),
}


@pytest.mark.parametrize("case", CASES)
def test_a_command_that_was_overtaken_is_played_again(
    spark: SparkSession, overtaken: Any, path: str, case: str
) -> None:
    act, first, left = CASES[case]
    overtaken(lambda: first(spark, path))
    act(spark, path)
    assert ids(spark.read.format("delta").load(path)) == left


@pytest.mark.parametrize("case", CASES)
def test_or_it_is_an_error_and_nothing_is_lost(
    spark: SparkSession, overtaken: Any, once: None, path: str, case: str
) -> None:
    act, first, _ = CASES[case]
    overtaken(lambda: first(spark, path))
    with pytest.raises(CommitConflictError) as lost:
        act(spark, path)
    assert lost.value.version == 3
    assert lost.value.rule in {"append-read", "remove-read", "same-rows", "file-rewritten"}
    assert versions(path) == 4


def test_blind_appends_move_behind_what_read_the_table_unless_the_table_is_serializable(
    spark: SparkSession, overtaken: Any, path: str
) -> None:
    overtaken(lambda: deltaic.write(path, rows(70)))
    insert_the_next(spark, path)
    serializable = deltaic.Table(path).properties["delta.isolationLevel"] == "Serializable"
    assert ids(spark.read.format("delta").load(path)) == [1, 2, 3, *([70, 71] if serializable else [4, 70])]


def test_a_query_of_other_rows_is_not_overtaken(
    spark: SparkSession, overtaken: Any, once: None, path: str
) -> None:
    overtaken(lambda: deltaic.Table(path).delete("id = 3"))
    spark.sql(f"INSERT INTO delta.`{path}` SELECT id + 10 FROM delta.`{path}` WHERE id < 3")
    assert ids(spark.read.format("delta").load(path)) == [1, 2, 11, 12]


def test_a_merge_does_not_meet_a_delete_of_rows_that_it_did_not_match(
    spark: SparkSession, overtaken: Any, once: None, path: str
) -> None:
    overtaken(lambda: deltaic.Table(path).delete("id = 3"))
    merge_idle(spark, path)
    assert ids(spark.read.format("delta").load(path)) == [2, 100]


def test_a_setting_that_is_no_number_is_refused(spark: SparkSession, overtaken: Any, path: str) -> None:
    spark.conf.set(MAX_REPLAYS, "often")
    try:
        overtaken(lambda: deltaic.Table(path).delete("id = 1"))
        with pytest.raises(InvalidArgumentError, match="often"):
            DeltaTable.forPath(spark, path).delete("id = 1")
    finally:
        spark.conf.unset(MAX_REPLAYS)


def test_a_session_may_accept_answers_that_are_old(spark: SparkSession, path: str) -> None:
    if doors.chosen() != doors.CLASSIC and spark.version.startswith("4.0."):
        pytest.skip("a server of 4.0 opens a table each time that a frame is used, and then looks")
    df = spark.read.format("delta").load(path)
    spark.conf.set("spark.databricks.delta.stalenessLimit", "1h")
    try:
        assert df.count() == 3
        deltaic.write(path, rows(70))
        assert df.count() == 3
        # its own commits are always there
        spark.range(5, 6).write.format("delta").mode("append").save(path)
        assert df.count() == 5
    finally:
        spark.conf.unset("spark.databricks.delta.stalenessLimit")
    deltaic.write(path, rows(71))
    assert df.count() == 6


@pytest.mark.classic("frames of Spark Connect are analyzed each time that they are used")
def test_a_frame_of_a_table_that_is_partitioned_otherwise_now_is_refused(
    spark: SparkSession, path: str
) -> None:
    df = spark.read.format("delta").load(path)
    spark.sql(f"REPLACE TABLE delta.`{path}` (id BIGINT, p INT) USING delta PARTITIONED BY (id)")
    spark.sql(f"INSERT INTO delta.`{path}` VALUES (7, 7)")
    with pytest.raises(SchemaChangedError, match="partition columns"):
        df.where("id > 0").count()
    with pytest.raises(SchemaChangedError, match="partition columns"):
        df.selectExpr("id", "1 AS p").write.format("delta").mode("overwrite").save(path)
    assert ids(spark.read.format("delta").load(path)) == [7]


@pytest.mark.parametrize("how", ["method", "statement"])
def test_what_was_cached_follows_a_restore(spark: SparkSession, path: str, how: str) -> None:
    df = spark.read.format("delta").load(path).cache()
    try:
        assert df.count() == 3
        if how == "method":
            DeltaTable.forPath(spark, path).restoreToVersion(0)
        else:
            spark.sql(f"RESTORE TABLE delta.`{path}` TO VERSION AS OF 0")
        assert ids(df) == ids(spark.read.format("delta").load(path)) == [1]
    finally:
        df.unpersist()
