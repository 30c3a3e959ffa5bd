"""OPTIMIZE of a small table by two builds of deltaic, in turns.

    python benches/peers/small_optimize.py --before FOLDER

FOLDER has the package `deltaic` of another commit, with its extension; this one is that of the checkout. Each process
makes its tables, warms up, and measures the wall time of OPTIMIZE on Spark with `local[2]` many times; the processes
take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FILES, _ROWS, _WARM = 20, 500, 10


def program(times: int) -> None:
    """Prints milliseconds of each OPTIMIZE."""
    import numpy as np
    import pyarrow as pa
    import small_session

    import deltaic
    from deltaic.spark.java import ensure_java

    ensure_java()
    spark = small_session.session("local[2]", small_session.COMPILED)
    took = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        for number in range(_FILES):
            n = np.arange(number * _ROWS, (number + 1) * _ROWS)
            deltaic.write(source, pa.table({"n": n, "a": n * 7919 % 10007}))
        for number in range(_WARM + times):
            path = Path(folder) / str(number)
            shutil.copytree(source, path)
            begun = time.perf_counter()
            done = spark.sql(f"OPTIMIZE delta.`{path}`").first().metrics
            took.append((time.perf_counter() - begun) * 1000)
            assert (done.numFilesRemoved, done.numFilesAdded) == (_FILES, 1)
    print(json.dumps(took[_WARM:]))
    spark.stop()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--times", type=int, default=40)
    given = parser.parse_args()
    packages = {"before": given.before, "now": ROOT / "python"}
    took: dict[str, list[float]] = {name: [] for name in packages}
    for _ in range(given.turns):
        for name, package in packages.items():
            path = os.pathsep.join([str(package), str(ROOT / "tests" / "python")])
            variables = {"PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
            command = [sys.executable, __file__, "--program", str(given.times)]
            done = subprocess.run(command, env=os.environ | variables, stdout=subprocess.PIPE, check=True)
            took[name] += json.loads(done.stdout.splitlines()[-1])
    for name, found in took.items():
        print(
            f"{name}: {len(found)} runs, best {min(found):.0f} ms, median {statistics.median(found):.0f} ms"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--program"]:
        program(int(sys.argv[2]))
    else:
        main()
