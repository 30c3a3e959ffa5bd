"""Streams that keep a log of schemas (`schemaTrackingLocation`).

A situation tells, run by run, which rows came in which batch and what ended the query, and at the end the offsets of
the checkpoint and the log of schemas. Identifiers of each table are numbered. `step` plays one run of a
table that the other engine may go on with.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from error_situations import reported
from playing import Area

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

MAPPED = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
MAPPED_AND_FED = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableChangeDataFeed' = 'true')"
STREAMING = "spark.databricks.delta.streaming."
ALLOWED = {"allowSourceColumnRename": "always", "allowSourceColumnDrop": "always"}
ANYWHERE = {f"{STREAMING}allowSchemaLocationOutsideCheckpointLocation": "true"}
_MADE_ANEW = re.compile(r"(?:col-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CONDITION = re.compile(r"\[(DELTA_[A-Z_.]+|DIFFERENT_[A-Z_]+)\]")
# of the text of the one condition that says what to do: what changed, and what to set
_ADVICE = re.compile(r"^'.+|\.option.+|SET .+|\([A-Z, ]+\) between Delta version \d+ and \d+", re.MULTILINE)


class Stage:
    """A table `t`, and a query over it with the checkpoint `c` and the log of schemas `c/s`."""

    def __init__(self, spark: Any, at: Path | str) -> None:
        self.spark, self.at = spark, Path(at)
        self.reported: list[Any] = []

    def sql(self, *statements: str) -> None:
        for statement in statements:
            self.spark.sql(statement.replace("{t}", f"delta.`{self.at / 't'}`"))

    def stream(self, **options: str | None) -> Any:
        given = {"schemaTrackingLocation": str(self.at / "c" / "s"), **options}
        said = {name: value for name, value in given.items() if value is not None}
        rows = self.spark.readStream.format("delta").options(**said).load(str(self.at / "t"))
        # when a change was committed is another time on each engine
        return rows.drop("_commit_timestamp") if "readChangeFeed" in said else rows

    def run(
        self,
        settings: dict[str, str] | None = None,
        *,
        checkpoint: str = "c",
        of: Callable[[], Any] | None = None,
        **options: str | None,
    ) -> None:
        """One run of the query to its end, recorded."""
        batches: list[Any] = []

        def keep(rows: Any, _: int) -> None:
            batches.append([rows.columns, sorted((list(row) for row in rows.collect()), key=str)])

        said = {
            name.replace("{hash}", str(self._hash(checkpoint))): value
            for name, value in (settings or {}).items()
        }
        for name, value in said.items():
            self.spark.conf.set(name, value)
        try:
            frame = of() if of else self.stream(**options)
            query = frame.writeStream.foreachBatch(keep).option(
                "checkpointLocation", str(self.at / checkpoint)
            )
            running = query.trigger(availableNow=True).start()
            try:
                assert running.awaitTermination(120), "the query hangs"
            finally:
                running.stop()
            ended = None
        except Exception as error:  # noqa: BLE001 it is recorded
            ended = _ended(error)
        finally:
            for name in said:
                self.spark.conf.unset(name)
        self.reported.append([batches, ended])

    def _hash(self, checkpoint: str) -> int:
        """`String.hashCode` of where the source keeps its metadata."""
        value = 0
        for character in f"file:{self.at / checkpoint}/sources/0":
            value = (value * 31 + ord(character)) & 0xFFFFFFFF
        return value - (value >> 31 << 32)

    def log(self) -> list[Path]:
        """The files of the log of schemas."""
        found = (f for f in (self.at / "c" / "s").glob("_schema_log_*/*") if f.name.isdigit())
        return sorted(found, key=lambda f: (f.parent.name, int(f.name)))

    def all_told(self) -> Any:
        files = [f for f in (self.at / "c" / "offsets").glob("*") if f.name.isdigit()]
        offsets = [f.read_text().splitlines()[2:] for f in sorted(files, key=lambda f: int(f.name))]
        entries = [_entry(f.read_text()) for f in self.log()]
        return self._numbered(json.dumps([self.reported, offsets, entries], sort_keys=True))

    def _numbered(self, text: str) -> Any:
        names: dict[str, str] = {}
        text = re.sub(r"ckpt_-?\d+", "ckpt_<hash>", text)
        text = _MADE_ANEW.sub(lambda found: names.setdefault(found[0], f"<{len(names)}>"), text)
        return json.loads(text.replace(str(self.at), "<at>"))


def _ended(error: Exception) -> Any:
    text = str(reported(error)["error"])
    found = _CONDITION.search(text)
    if found is None:
        return "an error without a condition"
    return [found[1], _ADVICE.findall(text)] if "CANNOT_CONTINUE" in found[1] else found[1]


def _entry(text: str) -> Any:
    form, line = text.splitlines()
    entry = json.loads(line)
    for name in ("dataSchemaJson", "partitionSchemaJson", "protocolJson"):
        entry[name] = json.loads(entry[name])
    protocol = entry["protocolJson"]["protocol"]
    for name in {"readerFeatures", "writerFeatures"} & protocol.keys():
        protocol[name] = sorted(protocol[name])
    return [form, entry]


def renamed(s: Stage) -> None:
    s.sql(
        f"CREATE TABLE {{t}} (a BIGINT, b STRING) USING delta {MAPPED}",
        "INSERT INTO {t} VALUES (1, 'x')",
    )
    s.run()
    s.sql("ALTER TABLE {t} RENAME COLUMN b TO c", "INSERT INTO {t} VALUES (2, 'y')")
    s.run()
    s.run()
    s.run(allowSourceColumnRename="always")
    s.sql("INSERT INTO {t} VALUES (3, 'z')")
    s.run(allowSourceColumnRename="3")
    s.run()


def dropped(s: Stage) -> None:
    s.sql(
        f"CREATE TABLE {{t}} (a BIGINT, b STRUCT<c: INT, d: INT>, e STRING) USING delta {MAPPED}",
        "INSERT INTO {t} VALUES (1, struct(1, 2), 'x')",
    )
    s.run()
    s.sql("ALTER TABLE {t} DROP COLUMN b.d", "INSERT INTO {t} VALUES (2, struct(3), 'y')")
    s.run()
    s.run(allowSourceColumnRename="always")
    s.run(allowSourceColumnDrop="2")
    s.sql("ALTER TABLE {t} DROP COLUMN e", "INSERT INTO {t} VALUES (3, struct(5))")
    s.run(allowSourceColumnDrop="always")
    s.run(allowSourceColumnDrop="always")


def widened(s: Stage) -> None:
    s.sql(
        "CREATE TABLE {t} (a INT, p INT) USING delta PARTITIONED BY (p)"
        " TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
        "INSERT INTO {t} VALUES (1, 1)",
    )
    s.run()
    s.sql("ALTER TABLE {t} ALTER COLUMN a TYPE BIGINT", "INSERT INTO {t} VALUES (5000000000, 2)")
    s.run()
    s.run()
    s.run({f"{STREAMING}allowSourceColumnTypeChange.ckpt_{{hash}}": "2"})
    s.sql("INSERT INTO {t} VALUES (7, 3)")
    s.run(allowSourceColumnTypeChange="always")


def added(s: Stage) -> None:
    s.sql("CREATE TABLE {t} (a BIGINT) USING delta", "INSERT INTO {t} VALUES (1)")
    s.run()
    s.sql("ALTER TABLE {t} ADD COLUMN (b STRING)", "INSERT INTO {t} VALUES (2, 'y')")
    s.run()
    s.run()
    # a property and a protocol are reported, too; what is no property of Delta is not
    s.sql("ALTER TABLE {t} SET TBLPROPERTIES ('mine' = 'yes')", "INSERT INTO {t} VALUES (3, 'z')")
    s.run()
    s.sql(
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.appendOnly' = 'true')", "INSERT INTO {t} VALUES (4, 'z')"
    )
    s.run()
    s.run()
    s.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    s.sql("INSERT INTO {t} VALUES (5, 'z')")
    s.run()
    s.run()


def consecutive(s: Stage) -> None:
    s.sql(
        f"CREATE TABLE {{t}} (a BIGINT, b STRING, c STRING) USING delta {MAPPED}",
        "INSERT INTO {t} VALUES (1, 'x', 'y')",
    )
    s.run()
    s.sql(
        "ALTER TABLE {t} RENAME COLUMN b TO d",
        "ALTER TABLE {t} DROP COLUMN c",
        "ALTER TABLE {t} ADD COLUMN (f INT)",
        "INSERT INTO {t} VALUES (2, 'y', 5)",
        "ALTER TABLE {t} RENAME COLUMN f TO g",
    )
    s.run()
    s.run()
    s.run(**ALLOWED)
    s.run({f"{STREAMING}allowSourceColumnRenameAndDrop": "always"})


def one_by_one(s: Stage) -> None:
    off = {f"{STREAMING}schemaTracking.mergeConsecutiveSchemaChanges.enabled": "false"}
    s.sql(
        f"CREATE TABLE {{t}} (a BIGINT, b STRING, c STRING) USING delta {MAPPED}",
        "INSERT INTO {t} VALUES (1, 'x', 'y')",
    )
    s.run(off)
    s.sql(
        "ALTER TABLE {t} RENAME COLUMN b TO d",
        "ALTER TABLE {t} DROP COLUMN c",
        "INSERT INTO {t} VALUES (2, 'y')",
    )
    s.run(off)
    s.run(off, **ALLOWED)
    s.run(off, **ALLOWED)
    s.run(off, **ALLOWED)


def from_a_version(s: Stage) -> None:
    s.sql(
        f"CREATE TABLE {{t}} (a BIGINT, b STRING) USING delta {MAPPED}",
        "INSERT INTO {t} VALUES (1, 'x')",
        "INSERT INTO {t} VALUES (2, 'x')",
        "ALTER TABLE {t} RENAME COLUMN b TO c",
        "INSERT INTO {t} VALUES (3, 'y')",
    )
    for _ in range(4):
        s.run(startingVersion="1", maxFilesPerTrigger="1", **ALLOWED)


def changes(s: Stage) -> None:
    s.sql(
        f"CREATE TABLE {{t}} (a BIGINT, b STRING) USING delta {MAPPED_AND_FED}",
        "INSERT INTO {t} VALUES (1, 'x')",
    )
    given = {"readChangeFeed": "true", "startingVersion": "0", **ALLOWED}
    s.run(**given)
    s.sql(
        "UPDATE {t} SET b = 'u' WHERE a = 1",
        "ALTER TABLE {t} RENAME COLUMN b TO c",
        "INSERT INTO {t} VALUES (2, 'y')",
        "DELETE FROM {t} WHERE a = 1",
    )
    s.run(**given)
    s.run(**given)


def changes_of_the_table(s: Stage) -> None:
    s.sql(
        f"CREATE TABLE {{t}} (a BIGINT, b STRING) USING delta {MAPPED_AND_FED}",
        "INSERT INTO {t} VALUES (1, 'x')",
    )
    given = {"readChangeFeed": "true", **ALLOWED}
    s.run(**given)
    s.sql("INSERT INTO {t} VALUES (2, 'x')", "ALTER TABLE {t} DROP COLUMN b", "INSERT INTO {t} VALUES (3)")
    s.run(**given)
    s.run(**given)


def elsewhere(s: Stage) -> None:
    s.sql(f"CREATE TABLE {{t}} (a BIGINT, b STRING) USING delta {MAPPED}", "INSERT INTO {t} VALUES (1, 'x')")
    s.run(schemaTrackingLocation=str(s.at / "s"))
    s.run(schemaTrackingLocation=str(s.at / "c") + "more/s")
    s.run(schemaTrackingLocation=None, schemaLocation=str(s.at / "s"))
    s.run(ANYWHERE, schemaTrackingLocation=str(s.at / "s"))
    s.run({f"{STREAMING}schemaTracking.enabled": "false"})
    s.run(schemaTrackingLocation=None, schemaLocation=str(s.at / "c" / "s"))


def twice(s: Stage) -> None:
    s.sql(f"CREATE TABLE {{t}} (a BIGINT, b STRING) USING delta {MAPPED}", "INSERT INTO {t} VALUES (1, 'x')")
    s.run(of=lambda: s.stream().union(s.stream()))
    ids = ("one", "other")
    one, other = (s.stream(streamingSourceTrackingId=name) for name in ids)
    s.run(of=lambda: one.union(other))
    s.reported.append(sorted(f.parent.name for f in s.log()))


def of_another_query(s: Stage) -> None:
    s.sql(f"CREATE TABLE {{t}} (a BIGINT, b STRING) USING delta {MAPPED}", "INSERT INTO {t} VALUES (1, 'x')")
    s.run()
    s.run(ANYWHERE, checkpoint="d")
    s.run({**ANYWHERE, f"{STREAMING}schemaTracking.metadataPathCheck.enabled": "false"}, checkpoint="d")


def broken(s: Stage) -> None:
    s.sql(f"CREATE TABLE {{t}} (a BIGINT, b STRING) USING delta {MAPPED}", "INSERT INTO {t} VALUES (1, 'x')")
    s.run()
    (entry,) = s.log()
    (entry.parent / f".{entry.name}.crc").unlink(missing_ok=True)
    right = entry.read_text()
    wrong = json.loads(right.splitlines()[1])
    for text in (
        "",
        "v9\n" + right.splitlines()[1],
        "v1\n" + json.dumps({**wrong, "dataSchemaJson": "{}"}),
        "v1\n" + json.dumps({**wrong, "tableId": "another"}),
    ):
        entry.write_text(text)
        s.run()
    entry.write_text(right)
    s.run()


def snapshot_that_changed(s: Stage) -> None:
    """The log is begun, nothing was read yet, and the table has another schema then."""
    s.sql(f"CREATE TABLE {{t}} (a BIGINT, b STRING) USING delta {MAPPED}", "INSERT INTO {t} VALUES (1, 'x')")
    s.run()
    for folder in ("offsets", "commits"):
        for file in (s.at / "c" / folder).iterdir():
            file.unlink()
    s.sql("ALTER TABLE {t} RENAME COLUMN b TO c", "INSERT INTO {t} VALUES (2, 'x')")
    s.run(**ALLOWED)
    s.run(**ALLOWED)
    s.run(**ALLOWED)


def begun_later(s: Stage) -> None:
    s.sql(f"CREATE TABLE {{t}} (a BIGINT, b STRING) USING delta {MAPPED}", "INSERT INTO {t} VALUES (1, 'x')")
    s.run(schemaTrackingLocation=None)
    s.sql("INSERT INTO {t} VALUES (2, 'x')")
    s.run()
    s.sql("ALTER TABLE {t} RENAME COLUMN b TO c", "INSERT INTO {t} VALUES (3, 'x')")
    s.run(**ALLOWED)
    s.run(**ALLOWED)


def begun_too_late(s: Stage) -> None:
    s.sql(f"CREATE TABLE {{t}} (a BIGINT, b STRING) USING delta {MAPPED}", "INSERT INTO {t} VALUES (1, 'x')")
    s.run(schemaTrackingLocation=None)
    s.sql(
        "INSERT INTO {t} VALUES (2, 'x')",
        "ALTER TABLE {t} RENAME COLUMN b TO c",
        "INSERT INTO {t} VALUES (3, 'x')",
    )
    s.run(schemaTrackingLocation=None)
    s.run(**ALLOWED)
    s.run(**ALLOWED)
    s.run(**ALLOWED)


def another_type(s: Stage) -> None:
    s.sql(
        f"CREATE TABLE {{t}} (a BIGINT, b STRING) USING delta {MAPPED}",
        "INSERT INTO {t} VALUES (1, 'x')",
    )
    s.run()
    rows = s.spark.sql("SELECT 2L AS a, 5 AS b")
    rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(str(s.at / "t"))
    for _ in range(3):
        s.run(ignoreChanges="true", **ALLOWED)


def data_may_be_lost(s: Stage) -> None:
    s.sql(f"CREATE TABLE {{t}} (a BIGINT, b STRING) USING delta {MAPPED}", "INSERT INTO {t} VALUES (1, 'x')")
    s.run(failOnDataLoss="false")


def widened_without_a_log(s: Stage) -> None:
    s.sql(
        "CREATE TABLE {t} (a INT) USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
        "INSERT INTO {t} VALUES (1)",
    )
    s.run(schemaTrackingLocation=None)
    s.sql("ALTER TABLE {t} ALTER COLUMN a TYPE BIGINT", "INSERT INTO {t} VALUES (5000000000)")
    asked = {"spark.databricks.delta.typeWidening.enableStreamingSchemaTracking": "true"}
    s.run(asked, schemaTrackingLocation=None)
    s.run(schemaTrackingLocation=None)


def step(spark: Any, at: Path | str, statements: list[str], options: dict[str, str]) -> Any:
    """What one run tells, after statements."""
    stage = Stage(spark, at)
    stage.sql(*statements)
    stage.run(**options)
    return stage.reported[-1]


def _situation(play: Callable[[Stage], None]) -> Callable[[Player], None]:
    def go(p: Player) -> None:
        stage = Stage(p.spark, p.at)
        play(stage)
        runs, offsets, entries = stage.all_told()
        for run in runs:
            p.tell(run)
        # of changes delta-spark ends a batch behind the last file of a version, deltaic behind the version
        p.tell(offsets[:-1] if play in (changes, changes_of_the_table) else offsets)
        p.tell(entries)

    return go


AREA = Area("tracked_streams")
for _play in (
    renamed,
    dropped,
    widened,
    added,
    consecutive,
    one_by_one,
    from_a_version,
    changes,
    changes_of_the_table,
    elsewhere,
    twice,
    of_another_query,
    broken,
    snapshot_that_changed,
    begun_later,
    begun_too_late,
    another_type,
    data_may_be_lost,
    widened_without_a_log,
):
    AREA.add(_play.__name__, _situation(_play), long=_play not in (renamed, consecutive, broken, elsewhere))
