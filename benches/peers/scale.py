#!/usr/bin/env python3
"""What work on a log costs when the table grows: CPU, time and peak memory of one process each.

    python benches/peers/scale.py [--files 10000000] [--days 100000] [--repeat 2]

There are three tables: one of a tenth of the files, one of all, and one of ten times as many, which is simulated: each
sidecar of the second table has ten names in it. All have V2 checkpoints of deltaic. See benches/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from checkpoint import ADDED, COMMITS, commit, to_v2
from run import DATE, build, measure, table

if TYPE_CHECKING:
    from pathlib import Path

# what LogGen writes with wide statistics
FIELDS = [("id", "long"), ("ts", "timestamp"), ("date", "date"), ("d1", "double"), ("d2", "double")]
FIELDS += [("d3", "double"), ("s1", "string"), ("s2", "string"), ("s3", "string"), ("n", "integer")]
NAMES = 10
# plans what is done to all files, and does nothing: no file is small enough, and none is old enough to be deleted
PLANS = """
import sys
import deltaic
table = deltaic.Table(sys.argv[1])
if sys.argv[2] == "optimize":
    print(table.optimize(target_size=1).considered_files)
else:
    print(len(table.vacuum(dry_run=True).files))
"""


def with_v2(source: Path, command: list[str]) -> Path:
    """The same table with a V2 checkpoint of its newest version."""
    made = source.with_name(f"{source.name}-v2")
    if not made.exists():
        being_made = source.with_name(f"{source.name}-being-made")
        shutil.rmtree(being_made, ignore_errors=True)
        shutil.copytree(source, being_made, copy_function=os.link)
        (being_made / "_delta_log/_last_checkpoint").unlink(missing_ok=True)
        commit(being_made / "_delta_log", COMMITS + 1, to_v2(FIELDS))
        subprocess.run([*command, being_made, "checkpoint"], check=True, stdout=subprocess.DEVNULL)
        being_made.rename(made)
    return made


# in a process of its own: what this one has in memory is counted for its children, too
SIDECARS = """
import json, sys
import pyarrow.parquet as pq
rows = pq.read_table(sys.argv[1], columns=["sidecar"])["sidecar"].drop_null().to_pylist()
print(json.dumps([{k: v for k, v in row.items() if k in ("path", "sizeInBytes")} for row in rows]))
"""


def many(source: Path) -> Path:
    """A table whose checkpoint names each sidecar of `source` ten times."""
    made = source.with_name(f"{source.name}-many")
    shutil.rmtree(made, ignore_errors=True)
    log = made / "_delta_log"
    (log / "_sidecars").mkdir(parents=True)
    [top] = (source / "_delta_log").glob("*.checkpoint.*.parquet")
    sidecars = json.loads(subprocess.check_output([sys.executable, "-c", SIDECARS, top]))
    actions: list[dict[str, Any]] = [{"checkpointMetadata": {"version": COMMITS + 1}}, *to_v2(FIELDS)]
    for sidecar in sidecars:
        for number in range(NAMES):
            name = f"{number}-{sidecar['path']}"
            os.link(source / "_delta_log/_sidecars" / sidecar["path"], log / "_sidecars" / name)
            actions.append({"sidecar": {**sidecar, "path": name, "modificationTime": 0}})
    name = f"{COMMITS + 1:020}.checkpoint.00000000-0000-4000-8000-000000000000.json"
    (log / name).write_text("".join(json.dumps(action) + "\n" for action in actions))
    shutil.copy(source / "_delta_log" / f"{COMMITS + 1:020}.json", log)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=10_000_000)
    parser.add_argument("--days", type=int, default=100_000, help="partitions of the tables")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--only", help="one piece of work, by name")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    engines = build()
    command = engines["deltaic"]
    python = [sys.executable, "-c", PLANS]
    tables = {}
    for files in (options.files // 10, options.files):
        words = ("wide", f"days={options.days}")
        source = table("checkpoint", files, COMMITS, ADDED, ADDED // 2, words=words)
        tables[files] = with_v2(source, command)
    tables[options.files * NAMES] = many(tables[options.files])
    results = {}
    for files, path in tables.items():
        simulated = files > options.files
        # a thousand files in the middle of the table
        middle = (options.files if simulated else files) * 500
        work = {
            "open": [*command, path, "snap"],
            "one partition": [*command, path, "part", "date", DATE],
            "a thousand files by statistics": [*command, path, "stats", "id", middle, middle + 1_000_000],
            "list": [*command, path, "list"],
            "update by one commit": [*command, path, "update"],
            "plan of a vacuum": [*python, path, "vacuum"],
            "plan of an optimize": [*python, path, "optimize"],
        }
        # what is of all files is not simulated
        names = list(work)[:3] if simulated else list(work)
        for name in names:
            if options.only in (None, name):
                runs = [measure([str(word) for word in work[name]]) for _ in range(options.repeat)]
                results.setdefault(name, {})[files] = min(runs, key=lambda run: run["cpu"])
    if options.json:
        print(json.dumps(results, indent=2))
        return
    heads = ("files", "CPU s", "wall s", "MiB", "found")
    print(f"{'work':31}", *(f"{head:>12}" for head in heads))
    for name, of_tables in results.items():
        for files, run in of_tables.items():
            figures = f"{run['cpu']:12.4f} {run['wall']:12.4f} {run['mib']:12.0f} {run['files']:12.0f}"
            print(f"{name:31} {files:12} {figures}")


if __name__ == "__main__":
    main()
