# ruff: noqa: E501 (a statement reads best in one line)
"""What a merge answers and what its metrics count."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("merge_metrics")

KEYS = "s.id = t.id"
SET, INSERT = "WHEN MATCHED THEN UPDATE SET *", "WHEN NOT MATCHED THEN INSERT *"
DELETE, GONE = "WHEN MATCHED THEN DELETE", "WHEN NOT MATCHED BY SOURCE"
MORE = "THEN UPDATE SET extra = t.extra + 1"
HUNDRED, SHIFTED = (0, 100, 5), "range(50, 150)"
# first and last id of the table and its files; the ids of the source; the condition; the clauses
MERGES = {
    "insert": (HUNDRED, SHIFTED, KEYS, INSERT),
    "insert beside a part": (HUNDRED, "range(100, 200)", f"{KEYS} AND t.part >= 2", INSERT),
    "insert with condition": (HUNDRED, SHIFTED, KEYS, "WHEN NOT MATCHED AND s.id >= 125 THEN INSERT *"),
    "insert where all match": ((0, 200, 5), SHIFTED, KEYS, INSERT),
    "insert of nothing": (HUNDRED, SHIFTED, KEYS, "WHEN NOT MATCHED AND s.id > 150 THEN INSERT *"),
    "insert of an empty source": ((0, 200, 5), "range(0)", KEYS, INSERT),
    "insert into an empty table": ((0, 0, 1), SHIFTED, KEYS, INSERT),
    "insert beside an update of nothing": (HUNDRED, "range(100, 200)", KEYS, f"{SET} {INSERT}"),
    "delete": (HUNDRED, SHIFTED, KEYS, DELETE),
    "delete in a part": (HUNDRED, SHIFTED, f"{KEYS} AND t.part >= 2", DELETE),
    "delete of nothing": (HUNDRED, "range(100, 200)", KEYS, DELETE),
    "delete of all rows": ((100, 200, 5), "range(300)", KEYS, DELETE),
    "delete where none is": (HUNDRED, "range(150)", KEYS, "WHEN MATCHED AND s.id + t.id > 1000 THEN DELETE"),
    "delete by an empty source": ((0, 100, 4), "range(0)", KEYS, "WHEN MATCHED AND t.id > 25 THEN DELETE"),
    "delete in an empty table": ((0, 0, 1), SHIFTED, KEYS, DELETE),
    "delete without the source, which is empty": (HUNDRED, "range(0)", "t.id >= 50", DELETE),
    "delete without the source": (HUNDRED, "range(1)", "t.id >= 50", DELETE),
    "delete without the source, which has many rows": (HUNDRED, "range(200)", "t.id >= 50", DELETE),
    "delete by rows that are there twice": (HUNDRED, "(SELECT id DIV 2 AS id FROM range(50, 150))", KEYS, DELETE),
    "update": (HUNDRED, SHIFTED, KEYS, SET),
    "update in a part": (HUNDRED, SHIFTED, f"{KEYS} AND t.part >= 2", SET),
    "update beside clauses for nothing": (HUNDRED, SHIFTED, KEYS, "WHEN MATCHED AND s.id + t.id > 1000 THEN DELETE WHEN MATCHED AND s.id + t.id < 1000 THEN UPDATE SET * WHEN NOT MATCHED AND s.id > 1000 THEN INSERT *"),
    "update of nothing": (HUNDRED, SHIFTED, KEYS, "WHEN MATCHED AND s.id + t.id > 1000 THEN UPDATE SET *"),
    "update and insert": (HUNDRED, SHIFTED, KEYS, f"{SET} {INSERT}"),
    "the rows of the source": (HUNDRED, SHIFTED, KEYS, f"{SET} {INSERT} {GONE} THEN DELETE"),
}  # fmt: skip
# delta-spark copies the rows of each file that a row of the source matches, or that a clause BY SOURCE is about
MERGES_OF_SOME_ROWS = {
    "insert beside clauses for nothing": ((0, 50, 5), "range(150)", KEYS, f"WHEN MATCHED AND s.id + t.id > 200 THEN UPDATE SET * WHEN MATCHED AND s.id + t.id < 0 THEN DELETE {INSERT}"),
    "delete with condition": (HUNDRED, "range(150)", KEYS, "WHEN MATCHED AND s.id + t.id < 50 THEN DELETE"),
    "delete beside an update of nothing": (HUNDRED, "range(100)", KEYS, "WHEN MATCHED AND s.id + t.id > 1000 THEN UPDATE SET * WHEN MATCHED AND s.id + t.id < 50 THEN DELETE"),
    "delete beside an insert of nothing": (HUNDRED, "range(100)", KEYS, f"WHEN MATCHED AND s.id + t.id < 50 THEN DELETE {INSERT}"),
    "delete by a condition on the table": (HUNDRED, "range(150)", KEYS, "WHEN MATCHED AND t.id >= 45 THEN DELETE"),
    "delete by a condition on the source": (HUNDRED, SHIFTED, KEYS, "WHEN MATCHED AND s.id >= 70 THEN DELETE"),
    "update by source": (HUNDRED, SHIFTED, KEYS, f"{GONE} AND t.id < 20 {MORE}"),
    "five clauses": ((0, 100, 10), "range(50, 150)", KEYS, f"WHEN MATCHED AND t.id >= 55 AND t.id < 60 THEN UPDATE SET * WHEN MATCHED AND t.id < 70 THEN DELETE {INSERT} {GONE} AND t.id < 10 {MORE} {GONE} AND t.id >= 45 THEN DELETE"),
    "clauses for nothing beside an update": (HUNDRED, SHIFTED, KEYS, f"WHEN MATCHED AND s.id + t.id > 1000 THEN DELETE {GONE} AND t.id > 1000 THEN DELETE {GONE} AND t.id < 1000 {MORE} WHEN NOT MATCHED AND s.id > 1000 THEN INSERT *"),
}  # fmt: skip
KINDS = {
    "": (False, False),
    "partitioned": (True, False),
    "feed": (False, True),
    "partitioned, feed": (True, True),
}


def columns(first: int, last: int, files: int) -> list[str]:
    width = max(1, (last - first) // files)
    return ["id", f"(id - {first}) DIV {width} AS part", f"{last - first} - id AS extra"]


def counted(p: Player, merges: dict[str, Any], kind: tuple[bool, bool], *, copied: bool) -> None:
    """Answers and metrics of each merge, on a copy of a table of so many files."""
    partitioned, feed = kind
    p.conf("spark.databricks.delta.properties.defaults.enableChangeDataFeed", str(feed).lower())
    made: dict[tuple[int, int, int], str] = {}
    for name, (target, source, on, clauses) in merges.items():
        p.tell({"case": name})
        p.path = f"{p.at}/t{len(made)}"
        pattern = made.setdefault(target, p.path)
        if pattern == p.path:
            first, last, files = target
            rows = p.spark.range(first, last, 1, files).selectExpr(*columns(first, last, files))
            if partitioned or first == last:
                p.write(rows, by=("part",) if partitioned else ())
            else:
                # a commit each: how many files one commit makes of few rows is each engine's own matter
                for part in range(files):
                    p.write(rows.where(f"part = {part}").coalesce(1))
        p.path = shutil.copytree(pattern, f"{pattern}_{len(p.reported)}")
        answer = f"MERGE INTO {{t}} AS t USING (SELECT {', '.join(columns(0, 100, 10))} FROM {source}) AS s ON {on} {clauses}"
        p.answers(answer)
        found = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first()
        if found.operation == "MERGE":
            reported = {k: v for k, v in found.operationMetrics.items() if "Bytes" not in k and "Ms" not in k}
            reported = {
                k: v
                for k, v in reported.items()
                if k not in ("numTargetFilesAdded", "numTargetChangeFilesAdded")
            }
            if not copied:
                # of how many files rows are copied is each engine's own matter
                reported = {
                    k: v
                    for k, v in reported.items()
                    if "Copied" not in k and k not in ("numOutputRows", "numTargetFilesRemoved")
                }
            p.tell(reported)


@AREA.family(KINDS, quick=[])
def merges(p: Player, kind: tuple[bool, bool]) -> None:
    counted(p, MERGES, kind, copied=True)


@AREA.family(KINDS, quick=["feed"])
def merges_that_change_few_of_the_files_they_match(p: Player, kind: tuple[bool, bool]) -> None:
    counted(p, MERGES_OF_SOME_ROWS, kind, copied=False)
