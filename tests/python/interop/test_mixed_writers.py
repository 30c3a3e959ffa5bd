"""Three engines write one table at the same time.

`DELTAIC_MIXED_SECONDS=120 python -m pytest -s tests/python/interop/test_mixed_writers.py` does so for two minutes, and
prints what each engine did.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltalake
import pyarrow as pa

import deltaic

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import DeltaSpark

SCRIPT = Path(__file__).parent / "mixed_writer.py"
SECONDS = os.environ.get("DELTAIC_MIXED_SECONDS", "12")


def rows(table: Any) -> list[tuple[str, int]]:
    return sorted((row["engine"], row["id"]) for row in pa.table(table).to_pylist())


def test_three_engines_write_one_table_and_agree_on_it(
    peer: Callable[[str, Path], tuple[list[str], dict[str, str]]], delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    path = str(tmp_path / "table")
    schema = pa.schema([("engine", pa.string()), ("id", pa.int64())])
    deltaic.write(path, schema.empty_table())
    answers = tmp_path / "answers"
    answers.mkdir()
    command, environment = peer(SCRIPT.name, tmp_path / "warehouse")
    processes = []
    for name in ("deltaic", "deltalake", "delta-spark"):
        arguments = [name, path, SECONDS, str(answers / name)]
        if name == "delta-spark":
            processes.append(subprocess.Popen([*command, *arguments], env=environment))
        else:
            processes.append(subprocess.Popen([sys.executable, str(SCRIPT), *arguments]))
    assert [process.wait() for process in processes] == [0, 0, 0]
    did = {name: json.loads((answers / name).read_text()) for name in ("deltaic", "deltalake", "delta-spark")}
    for name, facts in did.items():
        print(name, {key: value for key, value in facts.items() if key != "live"}, len(facts["live"]), "rows")
        assert facts["append"] > 0
    expected = sorted((name, n) for name, facts in did.items() for n in facts["live"])
    table = deltaic.Table(path)
    print(f"{table.version} commits")
    # each acknowledged row is there once, and the engines see the same
    assert rows(table.to_arrow()) == expected
    assert rows(deltalake.DeltaTable(path).to_pyarrow_table()) == expected
    assert rows(delta_spark.read(path)) == expected
    report = deltaic.verify(path, deep=True)
    assert report.ok, "\n".join(map(str, report.findings))
    assert report.version == table.version
