"""A Spark application that appends to a table, merges into it and deletes from it while another one does the same.

`python concurrent_job.py NAME` does one job for each line of stdin, `{"path", "first", "where", "rounds", "folder"}`:
its rows begin at the id `first`, and `where`, over the name `t`, says which rows of the table it looks at. While a
merge reads its source, after it has opened the table, the jobs wait for each other in `folder`. The answer is a line
of the facts of the conflicts, after each of which the job tried again.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import small_session
from pyspark.sql import functions as F  # noqa: N812

from deltaic.exceptions import CommitConflictError
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

JOBS = 2
SHARED = 20
"""Ids from FIRST on whose rows every round merges 1 into."""


def session() -> SparkSession:
    own = {
        # the job tries again itself, and tells of each conflict
        "spark.deltaic.maxReplays": "0",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "1",
    }
    return small_session.session("local[1]", own)


def meeting(folder: Path, name: str, place: str) -> Callable[[int], int]:
    """A function of rows that returns when both jobs are at a place."""
    own = str(folder / f"{place}.{name}")
    pattern = f"{place}.*"

    def meet(value: int) -> int:
        Path(own).touch()
        end = time.monotonic() + 120
        while len(list(Path(own).parent.glob(pattern))) < JOBS:
            if time.monotonic() > end:
                raise TimeoutError(f"the other job does not come to {place}")
            time.sleep(0.02)
        return value

    return meet


class Job:
    def __init__(
        self, spark: SparkSession, name: str, path: str, first: int, where: str, folder: str
    ) -> None:
        self.spark, self.name = spark, name
        self.path, self.first, self.where, self.folder = path, first, where, Path(folder)
        self.conflicts: list[dict[str, Any]] = []

    def until_done(self, act: Callable[[], Any]) -> None:
        while True:
            try:
                act()
            except CommitConflictError as error:
                facts = {
                    key: getattr(error, key)
                    for key in (
                        "version",
                        "winner",
                        "files",
                        "predicate",
                        "rule",
                        "level",
                        "advice",
                        "transaction",
                    )
                }
                self.conflicts.append({"class": type(error).__name__, "text": str(error), **facts})
            else:
                return

    def rows(self, first: int, count: int) -> DataFrame:
        return self.spark.range(first, first + count, 1, 1).select(
            "id", F.lit(self.name).alias("job"), F.lit(0).alias("n")
        )

    def append(self, number: int) -> None:
        self.rows(self.own(number), 5).write.format("delta").mode("append").save(self.path)

    def merge(self, number: int) -> None:
        meet = F.udf(meeting(self.folder, self.name, f"merge-{number}"), "bigint")
        source = self.spark.range(self.first, self.first + SHARED, 1, 1).select(meet("id").alias("id"))
        target = DeltaTable.forPath(self.spark, self.path).alias("t")
        merge = target.merge(source.alias("s"), f"{self.where} AND t.id = s.id")
        merge.whenMatchedUpdate(set={"n": "t.n + 1"}).execute()

    def delete(self, number: int) -> None:
        one = self.own(number)
        DeltaTable.forPath(self.spark, self.path).alias("t").delete(
            f"{self.where} AND t.id IN ({one}, {one + 3})"
        )

    def own(self, number: int) -> int:
        """The first id of a round, of this job alone wherever it begins."""
        return self.first + 1000 * (ord(self.name) - ord("a") + 1) + 10 * number


def main() -> None:
    # Spark prints to file descriptor 1 as it likes: the answers get one of their own
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    (name,) = sys.argv[1:]
    spark = session()
    for line in sys.stdin:
        asked = json.loads(line)
        rounds = asked.pop("rounds")
        job = Job(spark, name, **asked)
        for number in range(rounds):
            for act in (job.append, job.merge, job.delete):
                job.until_done(lambda act=act, number=number: act(number))
        print(json.dumps(job.conflicts), file=answers, flush=True)
    spark.stop()


main()
