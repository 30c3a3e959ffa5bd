"""A session that lives long beside other writers: kept frames, views and caches, and what commits say of reads."""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from playing import Area
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

if TYPE_CHECKING:
    from collections.abc import Callable

    import playing

AREA = Area("sessions")


def elsewhere(path: str, *ids: int, **columns: list[Any]) -> None:
    """Another writer appends rows: a file and a commit by the protocol, without any of the engines."""
    name = f"elsewhere-{uuid.uuid4()}.parquet"
    table = pa.table({"id": pa.array(ids, pa.int64()), **columns})
    pq.write_table(table, f"{path}/{name}")
    log = f"{path}/_delta_log"
    version = 1 + max(int(commit.stem) for commit in Path(log).glob("*.json"))
    size, now = Path(path, name).stat().st_size, int(time.time() * 1000)
    stats = {"numRecords": len(ids), "minValues": {"id": min(ids)}, "maxValues": {"id": max(ids)}}
    add = {"path": name, "size": size, "modificationTime": now, "dataChange": True, "partitionValues": {}}
    info = {"timestamp": now, "operation": "WRITE", "operationParameters": {}, "isBlindAppend": True}
    actions = [{"commitInfo": info}, {"add": {**add, "stats": json.dumps(stats)}}]
    text = "".join(json.dumps(a) + "\n" for a in actions)
    Path(f"{log}/{version:020}.json").write_text(text, encoding="utf-8")


_MAP = pa.map_(pa.string(), pa.string())
_CHECKPOINT = pa.schema(
    [
        ("txn", pa.struct([("appId", pa.string()), ("version", pa.int64()), ("lastUpdated", pa.int64())])),
        (
            "remove",
            pa.struct([("path", pa.string()), ("deletionTimestamp", pa.int64()), ("dataChange", pa.bool_())]),
        ),
        ("protocol", pa.struct([("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())])),
        (
            "metaData",
            pa.struct(
                [
                    ("id", pa.string()),
                    ("format", pa.struct([("provider", pa.string()), ("options", _MAP)])),
                    ("schemaString", pa.string()),
                    ("partitionColumns", pa.list_(pa.string())),
                    ("configuration", _MAP),
                    ("createdTime", pa.int64()),
                ]
            ),
        ),
        (
            "add",
            pa.struct(
                [
                    ("path", pa.string()),
                    ("partitionValues", _MAP),
                    ("size", pa.int64()),
                    ("modificationTime", pa.int64()),
                    ("dataChange", pa.bool_()),
                    ("stats", pa.string()),
                ]
            ),
        ),
    ]
)


def cleaned_up(path: str) -> None:
    """Another writer makes a checkpoint of the newest version, and its cleanup takes the commits before that."""
    log = Path(path, "_delta_log")
    commits = sorted(log.glob("*.json"))
    found = [
        json.loads(line) for commit in commits for line in commit.read_text(encoding="utf-8").splitlines()
    ]
    rows = []
    for name in ("protocol", "metaData", "add"):
        for action in (a[name] for a in found if name in a):
            fields = dict(action)
            for field in ("partitionValues", "configuration"):
                if field in fields:
                    fields[field] = list(fields[field].items())
            if name == "metaData":
                fields["format"] = {"provider": "parquet", "options": []}
            rows.append({name: fields})
    version = int(commits[-1].stem)
    pq.write_table(pa.Table.from_pylist(rows, _CHECKPOINT), log / f"{version:020}.checkpoint.parquet")
    (log / "_last_checkpoint").write_text(
        json.dumps({"version": version, "size": len(rows)}), encoding="utf-8"
    )
    for file in log.iterdir():
        if file.name.lstrip(".")[:20].isdigit() and f"{version:020}" not in file.name:
            file.unlink()


def ids(df: Any) -> list[int]:
    return sorted(row[0] for row in df.collect())


class Player:
    """A session, and a fresh table of the ids 1, 2, 3 for each situation."""

    def __init__(self, spark: Any, delta_table: Any, folder: str) -> None:
        self.spark, self.tables, self._folder = spark, delta_table, folder

    def fresh(self, name: str = "t") -> str:
        path = f"{self._folder}/{name}-{uuid.uuid4()}"
        self.spark.range(1, 4, 1, 1).write.format("delta").save(path)
        return path

    def read(self, path: str, **options: Any) -> Any:
        return self.spark.read.format("delta").options(**options).load(path)

    def sql(self, text: str) -> Any:
        return self.spark.sql(text)

    def table(self, path: str) -> Any:
        return self.tables.forPath(self.spark, path)


# -- rows of others


def overwrite_from_a_kept_frame(p: Player) -> Any:
    answers = []
    for change in (
        lambda d: d,
        lambda d: d.where("id <> 2"),
        lambda d: d.join(d.select("id").distinct(), "id"),
    ):
        path = p.fresh()
        df = change(p.read(path))
        df.count()
        elsewhere(path, 99)
        df.write.format("delta").mode("overwrite").save(path)
        answers.append(ids(p.read(path)))
    return answers


def replace_where_from_a_kept_frame(p: Player) -> Any:
    path = p.fresh()
    df = p.read(path).where("id > 1")
    df.count()
    elsewhere(path, 99)
    df.write.format("delta").mode("overwrite").option("replaceWhere", "id > 1").save(path)
    return ids(p.read(path))


def merge_from_a_kept_frame(p: Player) -> Any:
    path = p.fresh()
    source = p.read(path).selectExpr("id + 1000 AS id")
    elsewhere(path, 99)
    p.table(path).alias("t").merge(source.alias("s"), "t.id = s.id").whenNotMatchedInsertAll().execute()
    return ids(p.read(path))


def insert_from_a_kept_view(p: Player) -> Any:
    path = p.fresh()
    p.read(path).createOrReplaceTempView("kept_rows")
    elsewhere(path, 99)
    p.sql(f"INSERT INTO delta.`{path}` SELECT id + 1000 FROM kept_rows")
    return ids(p.read(path))


# -- answers


def a_frame_again(p: Player) -> Any:
    path = p.fresh()
    df = p.read(path)
    table = p.table(path)
    kept, total = table.toDF(), df.agg(F.sum("id"))
    df.createOrReplaceTempView("again")
    before = [df.count(), kept.count(), p.spark.table("again").count()]
    elsewhere(path, 99)
    after = [df.count(), kept.count(), p.spark.table("again").count(), table.toDF().count()]
    more = [
        ids(df.where("id > 2")),
        total.select("*").head()[0],
        ids(p.sql("SELECT id FROM again WHERE id > 3")),
    ]
    return [before, after, more]


def one_frame_collected_twice(p: Player) -> Any:
    path = p.fresh()
    df = p.read(path)
    first = ids(df)
    elsewhere(path, 99)
    return [first, ids(df), ids(df.select("id"))]


def a_sql_view(p: Player) -> Any:
    path = p.fresh()
    p.sql(f"CREATE OR REPLACE TEMPORARY VIEW of_sql AS SELECT id * 2 AS id FROM delta.`{path}`")
    first = ids(p.spark.table("of_sql"))
    elsewhere(path, 99)
    return [first, ids(p.spark.table("of_sql"))]


def a_table_by_name(p: Player) -> Any:
    path = p.fresh()
    p.sql(f"CREATE TABLE session_named USING delta LOCATION '{path}'")
    try:
        df = p.spark.table("session_named")
        first = df.count()
        elsewhere(path, 99)
        return [first, df.count(), ids(df.where("id > 3"))]
    finally:
        p.sql("DROP TABLE session_named")


def an_older_version_stays(p: Player) -> Any:
    path = p.fresh()
    frames = [p.read(path, versionAsOf=0), p.sql(f"SELECT * FROM delta.`{path}` VERSION AS OF 0")]
    elsewhere(path, 99)
    return [df.count() for df in frames]


def one_version_within_a_query(p: Player) -> Any:
    path = p.fresh()
    left = p.read(path)
    elsewhere(path, 99)
    right = p.read(path)
    elsewhere(path, 100)
    left.createOrReplaceTempView("left_rows")
    right.createOrReplaceTempView("right_rows")
    both = p.sql("SELECT id FROM left_rows WHERE id IN (SELECT max(id) FROM right_rows)")
    return [left.union(right).count(), left.join(right, "id").count(), ids(both)]


def the_static_side_of_a_stream(p: Player) -> Any:
    events, names = p.fresh("events"), p.fresh("names")
    seen: list[Any] = []
    names_df = p.read(names).withColumnRenamed("id", "name")
    stream = p.spark.readStream.format("delta").load(events)
    joined = stream.join(names_df, F.expr("id = name"), "left")
    query = joined.writeStream.foreachBatch(lambda df, _: seen.extend(map(list, df.collect()))).start()
    try:
        query.processAllAvailable()
        elsewhere(names, 50)
        elsewhere(events, 50)
        query.processAllAvailable()
    finally:
        query.stop()
    return sorted(seen)


def after_a_vacuum(p: Player) -> Any:
    path = p.fresh()
    df = p.read(path)
    df.count()
    p.spark.range(7, 9, 1, 1).write.format("delta").mode("overwrite").save(path)
    setting = "spark.databricks.delta.retentionDurationCheck.enabled"
    p.spark.conf.set(setting, "false")
    try:
        p.table(path).vacuum(0)
    finally:
        p.spark.conf.unset(setting)
    return ids(df)


# -- what Spark cached


def _more_of(p: Player, path: str) -> None:
    p.spark.range(50, 51, 1, 1).write.format("delta").mode("append").save(path)


CHANGES: dict[str, Callable[[Player, str], Any]] = {
    "append": _more_of,
    "insert": lambda p, path: p.sql(f"INSERT INTO delta.`{path}` VALUES (50L)"),
    "delete": lambda p, path: p.table(path).delete("id = 2"),
    "delete in SQL": lambda p, path: p.sql(f"DELETE FROM delta.`{path}` WHERE id = 2"),
    "update": lambda p, path: p.table(path).update("id = 2", {"id": "20"}),
    "merge": lambda p, path: (
        p.table(path)
        .alias("t")
        .merge(p.spark.range(3, 6, 1, 1).alias("s"), "t.id = s.id")
        .whenNotMatchedInsertAll()
        .execute()
    ),
}


def cached_frames(p: Player) -> Any:
    answers = {}
    for name, change in CHANGES.items():
        path = p.fresh()
        df = p.read(path).where("id > 0").cache()
        first = ids(df)
        change(p, path)
        answers[name] = [first, ids(p.read(path).where("id > 0")), df.count(), df.where("id > 0").count()]
        df.unpersist()
    return answers


def cached_by_name(p: Player) -> Any:
    path = p.fresh()
    p.sql(f"CREATE TABLE session_cached USING delta LOCATION '{path}'")
    try:
        p.sql("CACHE TABLE session_cached")
        p.sql("INSERT INTO session_cached VALUES (50L)")
        by_name = p.spark.table("session_cached").count()
        p.sql("DELETE FROM session_cached WHERE id < 3")
        return [by_name, ids(p.spark.table("session_cached"))]
    finally:
        p.sql("UNCACHE TABLE IF EXISTS session_cached")
        p.sql("DROP TABLE session_cached")


def cached_stays_when_others_commit(p: Player) -> Any:
    path = p.fresh()
    df = p.read(path).cache()
    first = df.count()
    elsewhere(path, 99)
    answers = [first, df.count(), p.read(path).count()]
    df.unpersist()
    return [*answers, df.count()]


# -- columns that changed since


def _error(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except Exception as error:  # noqa: BLE001 the answer is compared
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return "AnalysisException" if "AnalysisException" in kinds else f"{kinds[0]}: {error}"


def columns_that_changed(p: Player) -> Any:
    mapped = "SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    cases = {
        "added": ["ADD COLUMN more STRING"],
        "mapped": [mapped],
        "dropped": [mapped, "DROP COLUMN x"],
        "renamed": [mapped, "RENAME COLUMN x TO y"],
        "another one": [mapped, "DROP COLUMN x", "ADD COLUMN x INT"],
        "commented": ["ALTER COLUMN x COMMENT 'x'"],
        "nullable": ["ALTER COLUMN k DROP NOT NULL"],
        "widened": ["SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')", "ALTER COLUMN x TYPE BIGINT"],
    }
    answers = {}
    for name, changes in cases.items():
        path = f"{p.fresh()}-columns"
        p.sql(f"CREATE TABLE delta.`{path}` (k BIGINT NOT NULL, x INT) USING delta")
        p.sql(f"INSERT INTO delta.`{path}` VALUES (1, 1), (2, 2)")
        df = p.read(path)
        for change in changes:
            p.sql(f"ALTER TABLE delta.`{path}` {change}")
        answers[name] = [
            _error(lambda df=df: df.where("x > 1").count()),
            _error(lambda df=df: ids(df.select("k"))),
        ]
    return answers


# -- what a commit says of its reads


BLIND = {
    "values": "INSERT INTO {t} VALUES (9L)",
    "other table": "INSERT INTO {t} SELECT id FROM {u}",
    "itself": "INSERT INTO {t} SELECT id + 10 FROM {t}",
    "itself, filtered": "INSERT INTO {t} SELECT id + 10 FROM {t} WHERE id = 1",
    "count": "INSERT INTO {t} SELECT count(*) FROM {t}",
    "anti join": "INSERT INTO {t} SELECT u.id + 1 FROM {u} u LEFT ANTI JOIN {t} t ON u.id + 1 = t.id",
    "not exists": "INSERT INTO {t} SELECT 5L WHERE NOT EXISTS (SELECT 1 FROM {t} WHERE id = 5)",
    "scalar": "INSERT INTO {t} SELECT (SELECT max(id) FROM {t}) + 1",
    "older version": "INSERT INTO {t} SELECT id FROM {t} VERSION AS OF 0",
    "with": "WITH w AS (SELECT id FROM {t}) INSERT INTO {t} SELECT w.id FROM w JOIN w v ON w.id = v.id",
    "merge": "MERGE INTO {t} t USING {u} u ON t.id = u.id + 2 WHEN NOT MATCHED THEN INSERT *",
}


def blind_appends(p: Player) -> Any:
    answers = {}
    for name, text in BLIND.items():
        t, u = p.fresh(), p.fresh("u")
        p.sql(text.format(t=f"delta.`{t}`", u=f"delta.`{u}`"))
        commit = max(Path(t, "_delta_log").glob("*.json")).read_text(encoding="utf-8").splitlines()
        (info,) = [json.loads(line)["commitInfo"] for line in commit if '"commitInfo"' in line]
        answers[name] = [info["isBlindAppend"], ids(p.read(t))]
    return answers


def changes_by_subqueries(p: Player) -> Any:
    path = p.fresh()
    t = f"delta.`{path}`"
    p.sql(f"UPDATE {t} SET id = (SELECT max(id) + 1 FROM {t}) WHERE id = 1")
    updated = ids(p.read(path))
    p.sql(
        f"MERGE INTO {t} t USING (SELECT id + 1 AS id FROM {t}) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET id = -s.id WHEN NOT MATCHED THEN INSERT *"
    )
    return [updated, ids(p.read(path))]


def take_back(path: str, *versions: int) -> None:
    """Somebody deletes commits, with all that tells of them."""
    for version in versions:
        for file in Path(path, "_delta_log").glob(f"*{version:020}.*"):
            file.unlink()


def commits_that_were_taken_back(p: Player) -> Any:
    """The session knows them: each read has what is there, and each change begins there."""
    path = p.fresh()
    for number in (10, 20, 30):
        p.spark.range(number, number + 1).write.format("delta").mode("append").save(path)
    first = ids(p.read(path))
    take_back(path, 2, 3)
    found = [first, ids(p.read(path)), ids(p.sql(f"SELECT * FROM delta.`{path}`"))]
    p.spark.range(40, 41).write.format("delta").mode("append").save(path)
    found.append(ids(p.read(path)))
    take_back(path, 2)
    p.sql(f"UPDATE delta.`{path}` SET id = id + 100 WHERE id > 1")
    versions = p.sql(f"DESCRIBE HISTORY delta.`{path}`").select("version", "operation").collect()
    return [*found, ids(p.read(path)), [list(row) for row in versions]]


def the_last_commit(p: Player) -> Any:
    """The session's settings name the version of each commit of its own, and no other writer's."""
    known, found, path = "spark.databricks.delta.lastCommitVersionInSession", [], p.fresh()

    def look() -> None:
        found.append(p.spark.conf.get(known, None))
        p.spark.conf.unset(known)

    look()
    for act in CHANGES.values():
        act(p, path)
        look()
    elsewhere(path, 1000)
    p.read(path).collect()
    look()
    for text in (
        "ALTER TABLE {t} SET TBLPROPERTIES ('a' = 'b')",
        "ALTER TABLE {t} ADD COLUMN c INT",
        "ALTER TABLE {t} ADD CONSTRAINT positive CHECK (id > 0)",
        "ALTER TABLE {t} DROP CONSTRAINT positive",
        "OPTIMIZE {t}",
        "OPTIMIZE {t}",
        "DELETE FROM {t} WHERE id = 12345",
        "RESTORE {t} TO VERSION AS OF 1",
        "CREATE TABLE {t}x (id INT) USING delta",
    ):
        p.sql(text.format(t=f"delta.`{path}`").replace("`x", "x`"))
        look()
    p.table(path).addFeatureSupport("deletionVectors")
    look()
    return found


def a_log_that_was_cleaned_up(p: Player) -> Any:
    answers = []
    for look in (lambda d: d.columns, lambda d: d.schema.names, ids, lambda d: d.where("id > 5").count()):
        path = p.fresh()
        elsewhere(path, 10, 11)
        df = p.read(path)
        first = look(df)
        cleaned_up(path)
        then = [ids(df), ids(p.read(path)), p.read(path).where("id > 5").count()]
        elsewhere(path, 99)
        p.table(path).delete("id = 2")
        p.sql(f"INSERT INTO delta.`{path}` VALUES (100)")
        history = p.table(path).history().select("version").collect()
        answers.append([first, then, ids(df), ids(p.read(path)), [row.version for row in history]])
    return answers


SITUATIONS: list[Callable[[Player], Any]] = [
    overwrite_from_a_kept_frame,
    replace_where_from_a_kept_frame,
    merge_from_a_kept_frame,
    insert_from_a_kept_view,
    a_frame_again,
    one_frame_collected_twice,
    a_sql_view,
    a_table_by_name,
    an_older_version_stays,
    one_version_within_a_query,
    the_static_side_of_a_stream,
    after_a_vacuum,
    the_last_commit,
    cached_frames,
    cached_by_name,
    cached_stays_when_others_commit,
    columns_that_changed,
    blind_appends,
    changes_by_subqueries,
    commits_that_were_taken_back,
    a_log_that_was_cleaned_up,
]


def _situation(play: Callable[[Player], Any]) -> Callable[[playing.Player], None]:
    return lambda p: p.tell(_error(lambda: play(Player(p.spark, p.tables, p.at))))


for _play in SITUATIONS:
    AREA.add(_play.__name__, _situation(_play))
