#!/usr/bin/env python3
"""Checkpoints of a large log on deltaic and its peers: CPU, peak memory and bytes of one process each.

    python benches/peers/checkpoint.py [--files 1000000] [--repeat 3] [--deltalake]

Every engine writes a checkpoint of a table of its own: the classic one, the first V2 checkpoint, and the V2 checkpoint
after ten more commits of one file each. See benches/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from run import TARGET, build, measure, table

DELTALAKE = """
import sys
from deltalake import DeltaTable
DeltaTable(sys.argv[1]).create_checkpoint()
print(0)
"""
COMMITS = 100
ADDED = 100
# what LogGen writes
FIELDS = [("id", "long"), ("value", "double"), ("name", "string"), ("date", "date")]


def to_v2(fields: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """What makes a table of these columns, with partitions by `date`, one with V2 checkpoints."""
    columns = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in fields]
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["v2Checkpoint"],
        "writerFeatures": ["appendOnly", "invariants", "v2Checkpoint"],
    }
    metadata = {
        "id": "5fba94ed-9794-4965-ba6e-6ee3c0d22af9",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": columns}),
        "partitionColumns": ["date"],
        "configuration": {"delta.checkpointPolicy": "v2"},
        "createdTime": 1_767_225_600_000,
    }
    return [{"protocol": protocol}, {"metaData": metadata}]


def commit(log: Path, version: int, actions: list[dict[str, Any]]) -> None:
    body = "".join(json.dumps(action) + "\n" for action in actions)
    log.joinpath(f"{version:020}.json").write_text(body)


def small(version: int) -> list[dict[str, Any]]:
    """One file, as a small append adds it."""
    values = {"id": version, "value": 0.5, "name": "n"}
    stats = {"numRecords": 1, "minValues": values, "maxValues": values, "nullCount": {"id": 0}}
    add = {
        "path": f"date=2001-06-24/small-{version}.parquet",
        "partitionValues": {"date": "2001-06-24"},
        "size": 1000,
        "modificationTime": 1_767_225_600_000,
        "dataChange": True,
        "stats": json.dumps(stats),
    }
    return [{"commitInfo": {"timestamp": 1_767_225_600_000, "operation": "WRITE"}}, {"add": add}]


def sizes(log: Path) -> dict[str, int]:
    files = [f for f in log.iterdir() if "checkpoint" in f.name]
    # sidecars have names of their own
    files += (log / "_sidecars").iterdir() if (log / "_sidecars").exists() else []
    return {str(f): f.stat().st_size for f in files}


def checkpoint(command: list[str], path: Path) -> dict[str, float]:
    """Writes one, and tells what it cost; nothing where the engine does not do it."""
    before = sizes(path / "_delta_log")
    try:
        found = measure([*command, str(path), "checkpoint"])
    except SystemExit:
        return {}
    new = {name: size for name, size in sizes(path / "_delta_log").items() if before.get(name) != size}
    return {**found, "bytes": sum(new.values()) / 2**20}


def work(command: list[str], source: Path, folder: Path) -> dict[str, dict[str, float]]:
    """All three checkpoints on a copy of the table."""
    # the files of the log are never changed, so links do; the hint is replaced
    shutil.copytree(source, folder, copy_function=os.link)
    log = folder / "_delta_log"
    hint = log / "_last_checkpoint"
    text = hint.read_bytes()
    hint.unlink()
    hint.write_bytes(text)
    results = {"classic": checkpoint(command, folder)}
    commit(log, COMMITS + 1, to_v2(FIELDS))
    results["first V2"] = checkpoint(command, folder)
    for version in range(COMMITS + 2, COMMITS + 12):
        commit(log, version, small(version))
    results["V2 after 10 appends"] = checkpoint(command, folder)
    shutil.rmtree(folder)
    return results


def least(runs: list[dict[str, float]]) -> dict[str, float]:
    """The run with the least CPU; empty where none went well."""
    return min(filter(None, runs), key=lambda run: run["cpu"], default={})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--deltalake", action="store_true", help="also the Python package deltalake")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    engines = build()
    if options.deltalake:
        engines["deltalake"] = [sys.executable, "-c", DELTALAKE]
    source = table("checkpoint", options.files, COMMITS, ADDED, ADDED // 2)
    runs: dict[str, list[dict[str, dict[str, float]]]] = {engine: [] for engine in engines}
    # beside the table, because links do not leave a disk
    with tempfile.TemporaryDirectory(dir=TARGET / "peers") as folder:
        for number in range(options.repeat):
            for engine, command in engines.items():
                runs[engine].append(work(command, source, Path(folder) / f"{engine}-{number}"))
    results = {
        name: {engine: least([run[name] for run in taken]) for engine, taken in runs.items()}
        for name in ("classic", "first V2", "V2 after 10 appends")
    }
    if options.json:
        print(json.dumps(results, indent=2))
        return
    heads = ("CPU s", "wall s", "peak MiB", "new MiB")
    print(f"{'checkpoint':20} {'engine':13}", *(f"{head:>9}" for head in heads))
    for name, engines_of in results.items():
        for engine, run in engines_of.items():
            figures = (
                [f"{run[key]:9.2f}" for key in ("cpu", "wall", "mib", "bytes")] if run else ["   failed"]
            )
            print(f"{name:20} {engine:13}", *figures)


if __name__ == "__main__":
    main()
