"""Where a log may name files that are read, for those who open a table without Spark."""

from __future__ import annotations

import json
import pickle
import shutil
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from click.testing import CliRunner

import deltaic
from deltaic.cli.main import main
from deltaic.exceptions import InvalidArgumentError, OutsideTableError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table whose second file is outside of it."""
    root = tmp_path / "table"
    deltaic.write(root, pa.table({"id": [1, 2]}))
    deltaic.write(root, pa.table({"id": [3]}), mode="append")
    commit = root / "_delta_log/00000000000000000001.json"
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    add = next(action["add"] for action in actions if "add" in action)
    outside = tmp_path / "outside" / "a.parquet"
    outside.parent.mkdir()
    shutil.move(root / add["path"], outside)
    add["path"] = outside.as_uri()
    commit.write_text("\n".join(json.dumps(action) for action in actions))
    (root / "_delta_log/00000000000000000001.crc").unlink(missing_ok=True)
    return root


def ids(table: deltaic.Table) -> list[int]:
    """The rows."""
    return sorted(pa.table(table.to_arrow()).column("id").to_pylist())


def test_any_location_is_allowed_by_default(table: Path) -> None:
    assert ids(deltaic.Table(table)) == [1, 2, 3]
    assert ids(deltaic.Table(table, allowed_locations="any")) == [1, 2, 3]


def test_table_only_refuses_what_is_outside(table: Path) -> None:
    opened = deltaic.Table(table, allowed_locations="table-only")
    for again in (opened, pickle.loads(pickle.dumps(opened))):
        with pytest.raises(OutsideTableError, match="allowed_locations") as caught:
            ids(again)
        assert caught.value.operation == "read"
        assert caught.value.path.endswith("outside/a.parquet")
    # the older version has no such file
    assert ids(deltaic.Table(table, version=0, allowed_locations="table-only")) == [1, 2]


def test_locations_beside_the_table_can_be_named(table: Path) -> None:
    beside = table.parent / "outside"
    for allowed in ([beside], [str(beside), "s3://bucket/x"], f"{beside}, /nowhere", beside.as_uri()):
        assert ids(deltaic.Table(table, allowed_locations=allowed)) == [1, 2, 3]
    for others in ([], [table.parent / "outs"]):
        with pytest.raises(OutsideTableError):
            ids(deltaic.Table(table, allowed_locations=others))


def test_what_is_no_location_is_refused(table: Path) -> None:
    for wrong in ("", "tableonly", "outside/x", ["/a,b"]):
        with pytest.raises(InvalidArgumentError, match="allowed_locations"):
            deltaic.Table(table, allowed_locations=wrong)


def test_commands_take_the_option(table: Path) -> None:
    run = CliRunner().invoke
    assert run(main, ["verify", "--deep", str(table)]).exit_code == 0
    refused = run(main, ["verify", "--deep", str(table), "--allowed-locations", "table-only"])
    assert refused.exit_code != 0
    assert "outside/a.parquet" in refused.output
