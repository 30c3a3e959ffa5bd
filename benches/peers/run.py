#!/usr/bin/env python3
"""The same log work on deltaic and its peers, side by side: CPU seconds and peak memory of one process each.

    python benches/peers/run.py [--files 1000000] [--days 1000] [--commits 5000] [--repeat 3] [--deltalake]

It builds the programs, writes the logs that it measures (kept in target/peers), does every piece of work `repeat`
times in turn, and shows the run with the least CPU. See benches/README.md for what the numbers mean.
"""

import argparse
import datetime as dt
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "target"
# one partition; see LogGen
DATE = "2001-06-24"
PARTITIONS = 1_000
DAYS = str((dt.date.fromisoformat(DATE) - dt.date(1970, 1, 1)).days)
DELTALAKE = """
import sys
from deltalake import DeltaTable
path, mode, *rest = sys.argv[1:]
if mode == "snap":
    print(DeltaTable(path, without_files=True).version())
elif mode == "part":
    print(len(DeltaTable(path).file_uris([(rest[0], "=", rest[1])])))
else:
    print(DeltaTable(path).get_add_actions().num_rows)
"""


def build() -> dict[str, list[str]]:
    """Builds the programs and gives the command of each engine."""
    cargo = ["cargo", "build", "--release", "--quiet"]
    subprocess.run([*cargo, "-p", "deltaic-core", "--example", "log"], cwd=ROOT, check=True)
    subprocess.run([*cargo, "-p", "deltaic-testkit", "--example", "gen_log"], cwd=ROOT, check=True)
    kernel = ROOT / "benches/peers/kernel"
    subprocess.run([*cargo, "--target-dir", str(TARGET / "peers/build")], cwd=kernel, check=True)
    return {
        "deltaic": [str(TARGET / "release/examples/log")],
        "delta_kernel": [str(TARGET / "peers/build/release/peer-kernel")],
    }


def table(name: str, *numbers: int, words: tuple[str, ...] = ()) -> Path:
    """A log with these numbers: files in the checkpoint, commits, files added and removed by each."""
    path = TARGET / "peers" / "-".join([name, *words, *map(str, numbers)])
    if not (path / "_delta_log").exists():
        subprocess.run(
            [TARGET / "release/examples/gen_log", path, *map(str, numbers), *words],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return path


def copied(path: Path, name: str) -> Path:
    """A copy of a log, to write to."""
    copy = path.with_name(f"{path.name}-{name}")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(path, copy)
    return copy


def measure(command: list[str]) -> dict[str, float]:
    """One process: CPU seconds, seconds, peak memory in MiB, and the number of files that it found."""
    start = dt.datetime.now(tz=dt.timezone.utc)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    wall = (dt.datetime.now(tz=dt.timezone.utc) - start).total_seconds()
    # Linux counts in KiB, macOS in bytes
    peak = usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)
    try:
        said = json.loads(output)
        files = said["files"]
    except (ValueError, TypeError, KeyError):
        said, files = {}, int(output)
    taken = {"cpu": usage.ru_utime + usage.ru_stime, "wall": wall, "mib": peak, "files": files}
    # of many updates in one process, one
    if "update_us" in said:
        taken["cpu"] = taken["wall"] = said["update_us"] / 1e6
    return taken


def work(files: int, days: int, commits: int) -> dict[str, tuple[Path, list[str], list[str] | None]]:
    """Every piece of work: its table, and the arguments of deltaic and of delta_kernel, if that does it."""
    partitions = (f"days={days}",) if days != PARTITIONS else ()
    texts = table("checkpoint", files, 100, 100, 50, words=("wide", *partitions))
    columns = table("checkpoint", files, 100, 100, 50, words=("wide", "struct", *partitions))
    long = table("commits", 0, commits, 20, 10)
    ours = texts.with_name(f"{texts.name}-ours")
    if not ours.exists():
        subprocess.run(
            [TARGET / "release/examples/log", copied(texts, "ours"), "checkpoint"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    low = files * 500
    ids = ["id", str(low), str(low + files)]
    same = lambda where, *args: (where, list(args), list(args))  # noqa: E731
    part = (["part", "date", DATE], ["part", "date", DAYS])
    return {
        "open": same(texts, "snap"),
        "list": same(texts, "list"),
        "list with statistics": same(texts, "list_stats"),
        "prune by partition": (texts, *part),
        "prune by statistics": same(texts, "stats", *ids),
        "... in columns": same(columns, "stats", *ids),
        "... in our checkpoint": same(ours, "stats", *ids),
        "list, our checkpoint": same(ours, "list"),
        "open, commits only": same(long, "snap"),
        "list, commits only": same(long, "list"),
        "checkpoint": same(texts, "checkpoint"),
        "update": (texts, ["update"], None),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--days", type=int, default=PARTITIONS, help="partitions of the table")
    parser.add_argument("--commits", type=int, default=5_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", help="one piece of work, by name")
    parser.add_argument("--deltalake", action="store_true", help="also the Python package deltalake")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    engines = build()
    if options.deltalake:
        engines["deltalake"] = [sys.executable, "-c", DELTALAKE]
    results = {}
    for name, (path, ours, kernels) in work(options.files, options.days, options.commits).items():
        if options.only not in (None, name):
            continue
        runs: dict[str, list[dict[str, float]]] = {engine: [] for engine in engines}
        for _ in range(options.repeat):
            for engine, command in engines.items():
                arguments = kernels if engine == "delta_kernel" else ours
                # the Python package has no work on commits of its own
                if arguments is None or (engine == "deltalake" and arguments[0] in ("checkpoint", "update")):
                    continue
                where = copied(path, "written") if arguments == ["checkpoint"] else path
                runs[engine].append(measure([*command, str(where), *arguments]))
        results[name] = {
            engine: min(taken, key=lambda run: run["cpu"]) for engine, taken in runs.items() if taken
        }
    if options.json:
        print(json.dumps(results, indent=2))
        return
    heads = ("CPU s", "wall s", "MiB", "files", "CPU x", "mem x")
    print(f"{'work':22} {'engine':13}", *(f"{head:>9}" for head in heads))
    for name, engines_of in results.items():
        ours = engines_of["deltaic"]
        for engine, run in engines_of.items():
            ratios = f"{run['cpu'] / max(ours['cpu'], 0.001):9.1f} {run['mib'] / ours['mib']:9.1f}"
            figures = f"{run['cpu']:9.3f} {run['wall']:9.3f} {run['mib']:9.0f} {run['files']:9.0f}"
            print(f"{name:22} {engine:13} {figures} {ratios}")


if __name__ == "__main__":
    main()
