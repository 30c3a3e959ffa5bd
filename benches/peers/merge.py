"""A merge of Arrow data into a table without Spark, by deltaic and by `deltalake`.

    python benches/peers/merge.py [--rows 20000000] [--share 0.01] [--vectors]

A table of ROWS rows in files of a million, and a source that has every hundredth of its keys, in random order, and as
many new ones as a tenth of that. Each engine merges it (update what is there, insert the rest) into a copy of its own,
in a process of its own: wall time, CPU time, and the most memory that the process held. The rows of both are compared
afterwards. With `--vectors` deltaic marks old rows in deletion vectors, which `deltalake` does not write.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_FILE = 1_000_000


def make(folder: Path, rows: int, *, vectors: bool) -> None:
    """The table, a file after the other."""
    import numpy as np
    import pyarrow as pa

    import deltaic

    settings = {"delta.enableDeletionVectors": "true"} if vectors else {}
    for at in range(0, rows, _FILE):
        ids = np.arange(at, min(at + _FILE, rows), dtype="int64")
        names = pa.array(ids % 100_003).cast(pa.string())
        data = pa.table({"id": ids, "name": names, "value": ids * 0.5, "n": ids % 1000})
        deltaic.write(folder, data, configuration=settings if at == 0 else None)


def source(rows: int, share: float) -> object:
    """The rows to merge."""
    import numpy as np
    import pyarrow as pa

    random = np.random.default_rng(1)
    count = int(rows * share)
    old = random.choice(rows, count, replace=False)
    ids = np.concatenate([old, np.arange(rows, rows + count // 10)]).astype("int64")
    random.shuffle(ids)
    return pa.table({"id": ids, "name": pa.array(["new"] * len(ids)), "value": ids * 2.0, "n": ids % 7})


def peak() -> float:
    """The most MiB that this process has held. `ru_maxrss` would count what the process that started it held, too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def program(engine: str, folder: str, rows: int, share: float) -> None:
    """Prints what a merge took."""
    data = source(rows, share)
    if engine == "deltaic":
        import deltaic

        merge = (
            deltaic.Table(folder).merge(data, ["id"]).when_matched_update_all().when_not_matched_insert_all()
        )
    else:
        from deltalake import DeltaTable

        merge = DeltaTable(folder).merge(
            data, "target.id = source.id", source_alias="source", target_alias="target"
        )
        merge = merge.when_matched_update_all().when_not_matched_insert_all()
    held, before = peak(), resource.getrusage(resource.RUSAGE_SELF)
    begun = time.perf_counter()
    merge.execute()
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"wall": wall, "cpu": cpu, "before": held, "peak": peak()}))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        program(*given.run, given.rows, given.share)
        return
    import pyarrow as pa
    import pyarrow.compute as pc

    import deltaic

    with tempfile.TemporaryDirectory() as place:
        made = Path(place) / "table"
        make(made, given.rows, vectors=given.vectors)
        results, sums = {}, {}
        for engine in ("deltaic", "deltalake"):
            if engine == "deltalake" and given.vectors:
                continue
            own = shutil.copytree(made, Path(place) / engine)
            arguments = ["--rows", str(given.rows), "--share", str(given.share), "--run", engine, str(own)]
            ran = subprocess.run(
                [sys.executable, __file__, *arguments], check=True, capture_output=True, text=True
            )
            results[engine] = json.loads(ran.stdout.splitlines()[-1])
            rows = pa.table(deltaic.Table(own).to_arrow())
            sums[engine] = (rows.num_rows, pc.sum(rows["value"]).as_py(), pc.sum(rows["n"]).as_py())
        assert len(set(sums.values())) == 1, sums
        ours = results["deltaic"]
        for engine, took in results.items():
            x = took["wall"] / ours["wall"], took["cpu"] / ours["cpu"], took["peak"] / ours["peak"]
            print(
                f"{engine:10} {took['wall']:7.2f} s ({x[0]:.1f}x)   {took['cpu']:7.2f} s CPU ({x[1]:.1f}x)"
                f"   {took['peak']:7.0f} MiB ({x[2]:.1f}x; {took['before']:.0f} before)"
            )


if __name__ == "__main__":
    main()
