#!/usr/bin/env python3
"""A warehouse derived from TPC-DS on deltaic, delta-spark and plain Parquet, in one run: seconds of each.

    pip install tpcgen-cli
    python benches/peers/warehouse.py [--scale 1] [--repeat 3] [--rounds 3] [--files 100000] [--merges 1000]
        [--only-merges] [--spark-python PYTHON]

Load, queries, rounds of MERGE and DELETE with the queries again, a table of many small files, and many small merges, in
the shape of LHBench and LST-Bench. Tables and generator are those of TPC-DS, the queries are ours: these are no TPC
results. Three processes of one Python take turns; answers that differ end the run. See benches/README.md.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from spark import ENGINES, Process, many_files, parsed

PARQUET = "parquet"
MERGES_AT_ONCE = 10
# of the values of a table of small files
VALUES = 100
QUERIES_OF_FILES = {
    "one row of any": "SELECT count(*) FROM (SELECT id FROM files LIMIT 1)",
    "count": "SELECT count(*) FROM files",
    "one value of a hundred": "SELECT count(*), sum(id) FROM files WHERE id = 7",
}
WARM = 0.01
"""The size at which everything is done once before it is measured."""


def queries() -> dict[str, str]:
    _, *parts = Path(__file__).with_suffix(".sql").read_text().split("-- name: ")
    named = (part.split("\n", 1) for part in parts)
    return {name.strip(): text.strip().rstrip(";") for name, text in named}


def generated(folder: Path, scale: float) -> dict[str, Path]:
    """The files of the generator, by table."""
    target = folder / "source"
    command = ["tpcgen-cli", "tpcds", "parquet", f"--scale-factor={scale:g}", f"--output-dir={target}"]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return {file.stem: file for file in sorted(target.glob("*.parquet")) if file.stem != "dbgen_version"}


class Turns:
    """The engines of a run, which do each piece of work in turn."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        names = (*ENGINES, PARQUET)
        program = "warehouse_engine.py"
        self._processes = {name: Process(name, folder / name, options, program) for name in names}

    def all(self, work: str, *arguments: Any, repeat: int = 1) -> dict[str, float]:
        return self._ask(list(self._processes), work, arguments, repeat)

    def tables(self, work: str, *arguments: Any, repeat: int = 1) -> dict[str, float]:
        """The same without plain Parquet."""
        return self._ask(list(ENGINES), work, arguments, repeat)

    def merges(self, first: int, count: int) -> dict[str, list[float]]:
        return {name: self._processes[name].ask("merges", [first, count])["found"] for name in ENGINES}

    def _ask(self, names: list[str], work: str, arguments: tuple[Any, ...], repeat: int) -> dict[str, float]:
        best: dict[str, float] = {}
        for _ in range(repeat):
            found = {}
            for name in names:
                answer = self._processes[name].ask(work, list(arguments))
                best[name] = min(answer["seconds"], best.get(name, float("inf")))
                found[name] = answer["found"]
            if len({json.dumps(one) for one in found.values()}) > 1:
                raise SystemExit(f"{work} {arguments}: the engines differ: {found}")
        return best

    def close(self) -> None:
        for process in self._processes.values():
            process.close()


def total(parts: list[dict[str, float]]) -> dict[str, float]:
    return {name: sum(part[name] for part in parts) for name in parts[0]}


def asked(turns: Turns, repeat: int, *, parquet: bool) -> dict[str, dict[str, float]]:
    """Each query by each engine; and all of them."""
    ask = turns.all if parquet else turns.tables
    found = {}
    for name, text in queries().items():
        found[name] = ask("query", text, repeat=repeat)
        print(f"  {name}: {json.dumps(found[name])}", file=sys.stderr, flush=True)
    return found


def small_files(turns: Turns, place: Path, files: int, repeat: int) -> dict[str, dict[str, float]]:
    """Queries of a table of files of one row."""
    source = place / f"files-{files}"
    many_files(source, files, VALUES)
    found = {}
    for engine in ENGINES:
        table = place.parent / engine / place.name / source.name
        shutil.copytree(source / "_delta_log", table / "_delta_log")
    for name, text in QUERIES_OF_FILES.items():
        found[f"{files} files: {name}"] = turns.tables("files", source.name, text, repeat=repeat)
    return found


def small_merges(turns: Turns, merges: int) -> dict[str, dict[str, float]]:
    """The median and the slowest of twenty, at the beginning and at the end, and the sum."""
    took: dict[str, list[float]] = {engine: [] for engine in ENGINES}
    for first in range(0, merges, MERGES_AT_ONCE):
        for engine, seconds in turns.merges(first, min(MERGES_AT_ONCE, merges - first)).items():
            took[engine] += seconds
    turns.tables("facts", "customer")
    part = max(merges // 10, 1)
    found = {}
    for name, where in (("first", slice(part)), ("last", slice(-part, None))):
        for kind, quantile in (("median", 50), ("p95", 95)):
            found[f"merge, {name} {part}: {kind}"] = {
                engine: statistics.quantiles([*seconds[where], seconds[where][-1]], n=100)[quantile - 1]
                for engine, seconds in took.items()
            }
    found[f"{merges} merges"] = {engine: sum(seconds) for engine, seconds in took.items()}
    return found


def played(turns: Turns, folder: Path, sizes: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Everything once at these sizes; what the engines hold is compared."""
    found: dict[str, dict[str, float]] = {}

    def told(part: dict[str, dict[str, float]]) -> None:
        found.update(part)
        # a run takes long, and may end early
        print(f"scale {sizes.scale:g}: {json.dumps(part)}", file=sys.stderr, flush=True)

    place = folder / f"scale-{sizes.scale:g}"
    place.mkdir()
    turns.all("begin", place.name)
    files = generated(place, sizes.scale)
    if sizes.only_merges:
        turns.tables("load", "customer", str(files["customer"]))
        told(small_merges(turns, sizes.merges))
        return found
    loads = {name: turns.all("load", name, str(file)) for name, file in files.items()}
    told({"load": total(list(loads.values())), "load of store_sales": loads["store_sales"]})
    each = asked(turns, sizes.repeat, parquet=True)
    told({**each, f"{len(each)} queries": total(list(each.values()))})
    sales = str(files["store_sales"])
    merges = [turns.tables("merge", sales, turn) for turn in range(1, sizes.rounds + 1)]
    deletes = [turns.tables("delete", turn) for turn in range(1, sizes.rounds + 1)]
    turns.tables("facts", "store_sales")
    told({f"{sizes.rounds} merges of 1 %": total(merges), f"{sizes.rounds} deletes": total(deletes)})
    again = list(asked(turns, sizes.repeat, parquet=False).values())
    told({f"{len(again)} queries after them": total(again)})
    told({"optimize": turns.tables("optimize")})
    again = list(asked(turns, sizes.repeat, parquet=False).values())
    told({f"{len(again)} queries after optimize": total(again)})
    told(small_files(turns, place, sizes.files, sizes.repeat))
    told(small_merges(turns, sizes.merges))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--scale", type=float, default=1, help="the scale factor of TPC-DS; 1 is about 1 GB of text"
    )
    parser.add_argument("--repeat", type=int, default=3, help="of queries; the best run counts")
    parser.add_argument("--rounds", type=int, default=3, help="of a MERGE and a DELETE")
    parser.add_argument("--files", type=int, default=100_000, help="of one row each")
    parser.add_argument("--merges", type=int, default=1_000, help="of a hundred rows each")
    parser.add_argument("--only-merges", action="store_true", help="the small merges, and nothing else")
    parser.add_argument(
        "--folder", type=Path, help="where tables are made and deleted; about 6 GB at scale 1"
    )
    options = parsed(parser)
    small = {"scale": WARM, "repeat": 1, "rounds": 1, "files": 1_000, "merges": 20}
    warm = argparse.Namespace(**small, only_merges=options.only_merges)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        turns = Turns(Path(folder), options)
        try:
            # once at a small size: what is compiled and loaded once is no cost of the work
            for run in [warm, options] if options.scale > WARM else [options]:
                results = played(turns, Path(folder), run)
        finally:
            turns.close()
    if options.json:
        print(json.dumps(results, indent=2))
        return
    names = (*ENGINES, PARQUET)
    print(f"{'work':44}", *(f"{name:>12}" for name in names), f"{'faster':>8}")
    for work, seconds in results.items():
        columns = [f"{seconds[name]:10.2f} s" if name in seconds else " " * 12 for name in names]
        print(f"{work:44}", *columns, f"{seconds['delta-spark'] / seconds['deltaic']:7.2f}x")


if __name__ == "__main__":
    main()
