"""Steps that situations of streams share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playing import Player


def reader(p: Player, path: str | None = None, **options: Any) -> Any:
    """A streaming DataFrame of the table."""
    return p.spark.readStream.format("delta").options(**options).load(path or p.path)


def run(
    p: Player,
    rows: Any = None,
    at: str = "checkpoint",
    *,
    once: bool = False,
    together: bool = False,
    mode: str = "append",
    **options: Any,
) -> None:
    """Streams what is there, and tells the rows of each batch, and how the query ended.

    Args:
        p: The player.
        rows: A streaming DataFrame, or what makes one; by default the table with `options`.
        at: The name of the checkpoint.
        once: With the trigger of one batch.
        together: Tells the rows of all batches in one: engines may cut them otherwise.
        mode: The output mode.
        options: Options of the read.
    """
    batches: list[list[str]] = []

    def query() -> None:
        given = rows() if callable(rows) else rows
        df = reader(p, **options) if given is None else given
        if "_commit_timestamp" in df.columns:
            df = df.drop("_commit_timestamp")
        writer = df.writeStream.outputMode(mode).foreachBatch(
            lambda batch, _: batches.append(p.list_rows(batch))
        )
        writer = writer.option("checkpointLocation", f"{p.at}/{at}")
        trigger: dict[str, Any] = {"once": True} if once else {"availableNow": True}
        writer.trigger(**trigger).start().awaitTermination()

    p.attempt(query)
    p.tell(sorted(row for batch in batches for row in batch) if together else batches)


def log(p: Player, version: int, end: str = "json", path: str | None = None) -> Path:
    """A file of the log."""
    return Path(path or p.path, "_delta_log", f"{version:020}.{end}")


def take_away(p: Player, *versions: int, end: str = "json", path: str | None = None) -> None:
    """Removes files of the log, and what checks them."""
    for version in versions:
        file = log(p, version, end, path)
        file.unlink()
        for beside in (log(p, version, "crc", path), file.with_name(f".{file.name}.crc")):
            beside.unlink(missing_ok=True)


def into(
    p: Player,
    *columns: str,
    of: Any = None,
    mode: str = "append",
    by: tuple[str, ...] = (),
    name: str | None = None,
    at: str = "sink",
    **options: Any,
) -> None:
    """Streams what is there into a table, and tells how the query ended.

    Args:
        p: The player.
        columns: Expressions of the rows; by default those that come.
        of: A streaming DataFrame; by default the table.
        mode: The output mode.
        by: Partition columns.
        name: The name of a table of the catalog; else the rows go to `{u}`.
        at: The name of the checkpoint.
        options: Options of the write.
    """

    def query() -> None:
        rows = reader(p) if of is None else of
        writer = (rows.selectExpr(*columns) if columns else rows).writeStream.format("delta").outputMode(mode)
        writer = (
            writer.options(**options).option("checkpointLocation", f"{p.at}/{at}").trigger(availableNow=True)
        )
        writer = writer.partitionBy(*by) if by else writer
        running = writer.start(f"{p.at}/u") if name is None else writer.toTable(name)
        running.awaitTermination()

    p.attempt(query)


def uncommit(p: Player, batch: int, at: str = "sink") -> None:
    """As if the process had ended between the commit of a batch and the word in the checkpoint."""
    for name in (f"{batch}", f".{batch}.crc"):
        Path(p.at, at, "commits", name).unlink(missing_ok=True)
