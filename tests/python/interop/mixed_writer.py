"""One engine that writes to a table that others write to as well, until the time is over.

Arguments: the engine, the path, seconds, and a file that gets what was acknowledged. The engine is `deltaic`,
`deltalake`, or `delta-spark`, for which this runs in a process that has it (with its JARs and warehouse in front).
Each engine appends rows of its own, deletes some of them, and compacts now and then. A commit that lost to another
writer is done again and counted.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path


class Deltaic:
    def __init__(self, path: str) -> None:
        import deltaic

        self.lost = (deltaic.exceptions.CommitConflictError,)
        self.deltaic, self.path = deltaic, path

    def append(self, ids: list[int]) -> None:
        import pyarrow

        rows = pyarrow.table({"engine": ["deltaic"] * len(ids), "id": pyarrow.array(ids, pyarrow.int64())})
        self.deltaic.write(self.path, rows)

    def delete(self, low: int, high: int) -> None:
        self.deltaic.Table(self.path).delete(f"engine = 'deltaic' AND id >= {low} AND id < {high}")

    def compact(self) -> None:
        # of the log: a checkpoint beside those that the engines write by themselves
        self.deltaic.Table(self.path).checkpoint()


class Deltalake:
    def __init__(self, path: str) -> None:
        import deltalake

        self.lost = (deltalake.exceptions.CommitFailedError,)
        self.deltalake, self.path = deltalake, path

    def append(self, ids: list[int]) -> None:
        import pyarrow

        rows = pyarrow.table({"engine": ["deltalake"] * len(ids), "id": pyarrow.array(ids, pyarrow.int64())})
        self.deltalake.write_deltalake(self.path, rows, mode="append")

    def delete(self, low: int, high: int) -> None:
        where = f"engine = 'deltalake' AND id >= {low} AND id < {high}"
        self.deltalake.DeltaTable(self.path).delete(where)

    def compact(self) -> None:
        self.deltalake.DeltaTable(self.path).optimize.compact()


class DeltaSpark:
    def __init__(self, path: str, jars: str, warehouse: str) -> None:
        from delta_spark import session

        self.spark, self.path = session(jars, warehouse), path
        self.lost = (Exception,)

    def append(self, ids: list[int]) -> None:
        rows = ", ".join(f"('delta-spark', {n})" for n in ids)
        self.spark.sql(f"INSERT INTO delta.`{self.path}` VALUES {rows}")

    def delete(self, low: int, high: int) -> None:
        where = f"engine = 'delta-spark' AND id >= {low} AND id < {high}"
        self.spark.sql(f"DELETE FROM delta.`{self.path}` WHERE {where}")

    def compact(self) -> None:
        self.spark.sql(f"OPTIMIZE delta.`{self.path}`")


def is_conflict(error: Exception) -> bool:
    """Whether an error of delta-spark, whose classes stay in Java, is a lost race."""
    text = type(error).__name__ + str(error)[:400]
    return any(word in text for word in ("Concurrent", "CommitFailed", "MetadataChanged", "DELTA_CONCURRENT"))


def main() -> None:
    *spark, name, path, seconds, answer = sys.argv[1:]
    engines = {"deltaic": Deltaic, "deltalake": Deltalake}
    engine = DeltaSpark(path, *spark) if name == "delta-spark" else engines[name](path)
    dice = random.Random(name)
    ready = Path(f"{answer}.ready")
    ready.touch()
    while len(list(ready.parent.glob("*.ready"))) < 3:
        time.sleep(0.05)
    # the acknowledged rows; those of a range are deleted together
    live: list[int] = []
    done = {"append": 0, "delete": 0, "compact": 0, "retried": 0}
    next_id = 0
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        step = dice.choices(("append", "delete", "compact"), (20, 4, 1))[0]
        low, high = 0, 0
        if step == "delete":
            if not live:
                continue
            low = dice.choice(live)
            high = low + dice.randint(1, 5)
        ids = list(range(next_id, next_id + dice.randint(1, 4)))
        while True:
            try:
                if step == "append":
                    engine.append(ids)
                elif step == "delete":
                    engine.delete(low, high)
                else:
                    engine.compact()
            except engine.lost as error:
                if name == "delta-spark" and not is_conflict(error):
                    raise
                done["retried"] += 1
                if step == "compact":
                    break
                time.sleep(dice.random() / 10)
                continue
            break
        done[step] += 1
        if step == "append":
            live += ids
            next_id = ids[-1] + 1
        elif step == "delete":
            live = [n for n in live if not low <= n < high]
    Path(answer).write_text(json.dumps({"live": live, **done}))


main()
