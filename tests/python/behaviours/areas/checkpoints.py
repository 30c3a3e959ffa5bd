"""Checkpoints, checksums, cleanup, and logs that others wrote or damaged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import Area

from areas.logs import change, copy, forget_checksums, of_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

AREA = Area("checkpoints")

EACH = "'delta.checkpointInterval' = '1'"


def create(p: Player, columns: str = "id BIGINT", *properties: str, of: str = "{t}", by: str = "") -> None:
    given = f" TBLPROPERTIES ({', '.join(properties)})" if properties else ""
    p.sql(f"CREATE TABLE {of} ({columns}) USING delta{by}{given}")


def insert(p: Player, first: int, end: int, of: str = "{t}") -> None:
    p.sql(f"INSERT INTO {of} SELECT id FROM range({first}, {end}, 1, 1)")


# -- application transactions


@AREA.family({"no property": "", "0 days": "interval 0 days", "1 day": "interval 1 day"})
def an_application_is_forgotten_when_it_expires(p: Player, kept: str) -> None:
    create(p, "id BIGINT", *([f"'delta.setTransactionRetentionDuration' = '{kept}'"] if kept else []))
    for _ in range(2):
        p.write("SELECT 1L AS id", txnAppId="app", txnVersion="1")
    p.write("SELECT 2L AS id", txnAppId="app", txnVersion="0")
    p.write("SELECT 3L AS id", txnAppId="app", txnVersion="2")
    p.rows()
    p.tell(p.sql("DESCRIBE HISTORY {t}").count())


@AREA.family({"expired": 2.0, "kept": 0.5, "unknown": None})
def an_application_of_others_expires_by_its_time(p: Player, days: float | None) -> None:
    import time

    create(p, "id BIGINT", "'delta.setTransactionRetentionDuration' = 'interval 1 day'")
    p.write("SELECT 1L AS id", txnAppId="app", txnVersion="1")
    path = copy(p)

    def older(action: dict[str, Any]) -> None:
        if "txn" in action:
            action["txn"].pop("lastUpdated", None)
            if days is not None:
                action["txn"]["lastUpdated"] = int((time.time() - days * 86_400) * 1000)

    change(p, path, older)
    p.write("SELECT 2L AS id", path=path, txnAppId="app", txnVersion="1")
    p.rows(p.read(path))


@AREA.situation()
def a_checkpoint_lacks_what_has_expired(p: Player) -> None:
    create(p, "id BIGINT", EACH, "'delta.setTransactionRetentionDuration' = 'interval 0 days'")
    p.write("SELECT 1L AS id", txnAppId="app", txnVersion="1")
    p.write("SELECT 2L AS id", txnAppId="other", txnVersion="1")
    p.tell(of_checkpoint(p).where("txn IS NOT NULL").count())


@AREA.situation()
def a_query_that_expired_writes_its_batch_again(p: Player) -> None:
    p.write("SELECT 1L AS id", path=f"{p.at}/source")
    create(p, "id BIGINT", "'delta.setTransactionRetentionDuration' = 'interval 0 days'")
    source = f"{p.at}/source"
    for n in range(2):
        p.stream(to=p.path, rows=p.spark.readStream.format("delta").load(source))
        for commit in Path(p.at, "checkpoint", "commits").glob("*0*"):
            if n == 0:
                commit.unlink()
    p.rows()


# -- what checkpoints have


KEPT = {
    "as struct": ["true", "true"],
    "as json": ["true", "false"],
    "as struct only": ["false", "true"],
    "neither": ["false", "false"],
}


def _statistics(p: Player) -> None:
    checkpoint = of_checkpoint(p)
    fields = checkpoint.schema["add"].dataType.fieldNames()
    reported: list[Any] = [[f for f in ("stats", "stats_parsed") if f in fields]]
    for column in ("add.stats", "add.stats_parsed.numRecords"):
        if column.split(".")[1] in fields:
            reported.append(checkpoint.where(f"{column} IS NOT NULL").count())
    p.tell(reported)


@AREA.situation(long=True)
def statistics_are_switched_in_checkpoints(p: Player) -> None:
    create(p, "id BIGINT, part INT", EACH, by=" PARTITIONED BY (part)")
    for n, how in enumerate(("as json", "as struct", "as struct only", "neither", "as struct", "as json")):
        text, struct = KEPT[how]
        p.sql(f"""ALTER TABLE {{t}} SET TBLPROPERTIES ('delta.checkpoint.writeStatsAsJson' = '{text}',
            'delta.checkpoint.writeStatsAsStruct' = '{struct}')""")
        p.sql(f"INSERT INTO {{t}} VALUES ({n}, {n % 2})")
        _statistics(p)
    p.rows("SELECT * FROM {t} WHERE id >= 2")


# -- in-commit timestamps


def _without_time(action: dict[str, Any]) -> None:
    if "commitInfo" in action:
        del action["commitInfo"]["inCommitTimestamp"]


@AREA.family({"information": lambda action: "commitInfo" not in action, "time": _without_time})
def a_newest_commit_that_lacks(p: Player, how: Callable[[dict[str, Any]], Any]) -> None:
    """No time can be given to the next commit: it is refused. Rows are read."""
    create(p, "id BIGINT", "'delta.enableInCommitTimestamps' = 'true'")
    insert(p, 0, 2)
    path = copy(p)
    change(p, path, how, {1})
    forget_checksums(path)
    p.rows(p.read(path))
    p.attempt(
        f"INSERT INTO delta.`{path}` VALUES (3)",
        f"DELETE FROM delta.`{path}`",
        f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('a' = 'b')",
    )
    p.rows(p.read(path))
