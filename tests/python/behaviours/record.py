"""Plays an area on delta-spark, in a process of its own; the arguments are JARs, warehouse, folder, area, and names.

The answers go to stdout, as JSON by the names of the situations. It is the tests that run it (`recorded.py`).
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    # Spark prints to file descriptor 1 as it likes: the answers get one of their own
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path.insert(0, str(HERE.parent / "interop"))
    from delta.tables import DeltaTable
    from delta_spark import session
    from playing import in_utc, play

    in_utc()
    jars, warehouse, folder, area, *names = sys.argv[1:]
    of = importlib.import_module(f"areas.{area}").AREA
    spark = session(jars, warehouse)
    reported = {name: play(of, name, spark, DeltaTable, Path(folder)) for name in names}
    print(json.dumps(reported), file=answers, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
