"""Streams whose driver is killed, over and over: at the end the tables hold what they would without that.

    python tests/python/soak/streams.py [--minutes 15] [--kills 10] [--seed N] [--from-delta-spark]

Rows of a rate are upserted into a table, and the change feed of that goes into a second one. The driver is killed at
random moments, then the queries end, and an oracle that counts looks at both tables. With `--from-delta-spark` that
runs the first half, on the same tables and checkpoints; it comes from where the tests of `interop` have it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
from driver import KEYS

import deltaic
from deltaic.spark.java import ensure_java


def live(folder: Path, engine: str, step: str) -> subprocess.Popen[bytes]:
    """Starts a driver."""
    python, package, jars = sys.executable, str(Path(deltaic.__file__).parents[1]), ""
    if engine == "delta-spark":
        sys.path.insert(0, str(Path(__file__).parents[1]))
        import peers

        python, package, jars = peers.python(), str(peers.package()), os.pathsep.join(peers.jars())
    mine = {"PYTHONPATH": package, "PYSPARK_PYTHON": python, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [python, str(Path(__file__).with_name("driver.py")), str(folder), engine, step, jars]
    return subprocess.Popen(command, env={**os.environ, **mine}, start_new_session=True)


def kill(driver: subprocess.Popen[bytes]) -> None:
    """Kills a driver with its JVM, which is in its session: nothing of it can clean up."""
    os.killpg(driver.pid, 9)
    driver.wait()


def soak(folder: Path, given: argparse.Namespace) -> None:
    """All lives of the driver."""
    chance = random.Random(given.seed)
    each = given.minutes * 60 / given.kills
    for number in range(given.kills):
        engine = "delta-spark" if given.from_delta_spark and number < given.kills // 2 else "deltaic"
        driver = live(folder, engine, "on")
        try:
            ended = driver.wait(each * chance.uniform(0.5, 1.5))
        except subprocess.TimeoutExpired:
            kill(driver)
        else:
            sys.exit(f"the driver ended by itself: {ended}")
        print(f"killed {number + 1} of {given.kills} ({engine}), {rows(folder)} rows were begun", flush=True)
    ended = live(folder, "deltaic", "end").wait(900)
    if ended:
        sys.exit(f"the driver ended with {ended}")


def rows(folder: Path) -> int:
    """Rows that the rate gave, by the checkpoint."""
    offsets = folder / "checkpoints" / "state" / "offsets"
    numbers = [int(f.name) for f in offsets.iterdir() if f.name.isdigit()] if offsets.exists() else []
    if not numbers:
        return 0
    return int(json.loads((offsets / str(max(numbers))).read_text().splitlines()[-1])["offset"])


def check(folder: Path) -> None:
    """Compares both tables with what must be in them.

    Raises:
        AssertionError: when they differ.
    """
    count = rows(folder)
    state = deltaic.Table(folder / "state")
    found = pa.table(state.to_arrow()).to_pydict()
    there = dict(zip(found["key"], found["value"], strict=True))
    wanted = {key: count - 1 - (count - 1 - key) % KEYS for key in range(min(KEYS, count))}
    assert len(there) == len(found["key"]), "a key comes twice"
    assert there == wanted, "the upserted table is not what the rate gave"
    columns = ["key", "value", "_change_type", "_commit_version"]
    reported = Counter(zip(*pa.table(state.changes(0, columns=columns)).to_pydict().values(), strict=True))
    log = pa.table(deltaic.Table(folder / "log").to_arrow()).select(columns)
    copied = Counter(zip(*log.to_pydict().values(), strict=True))
    assert copied == reported, (
        f"the second table has {(copied - reported).total()} more and {(reported - copied).total()} less"
    )
    print(
        f"{count} rows, {len(there)} keys, {reported.total()} changes in {state.version} versions: as they must be"
    )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--from-delta-spark", action="store_true")
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    ensure_java()
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        soak(Path(folder), given)
        check(Path(folder))
        print(f"{(time.monotonic() - started) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
