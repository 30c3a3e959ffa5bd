"""Steps that `deltaic` and `deltalake` both play on tables of Arrow, and what each reads of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

import deltaic


class Ours:
    """What is played, by deltaic."""

    @staticmethod
    def write(path: Path, data: pa.Table, by: list[str] | None = None, **properties: str) -> None:
        deltaic.write(path, data, partition_by=by, configuration=properties or None)

    @staticmethod
    def replace(path: Path, data: pa.Table, where: str) -> None:
        deltaic.write(path, data, mode="overwrite", replace_where=where)

    @staticmethod
    def checkpoint(path: Path) -> None:
        deltaic.Table(path).checkpoint()

    @staticmethod
    def optimize(path: Path, by: str | None = None, value: str = "", zorder: list[str] | None = None) -> None:
        where = None if by is None else f"{by} = '{value}'"
        deltaic.Table(path).optimize(where, zorder_by=zorder or ())


class Theirs:
    """The same by `deltalake`."""

    @staticmethod
    def write(path: Path, data: pa.Table, by: list[str] | None = None, **properties: str) -> None:
        write_deltalake(path, data, mode="append", partition_by=by, configuration=properties or None)

    @staticmethod
    def replace(path: Path, data: pa.Table, where: str) -> None:
        write_deltalake(path, data, mode="overwrite", predicate=where.replace("`", '"'))

    @staticmethod
    def checkpoint(path: Path) -> None:
        DeltaTable(path).create_checkpoint()

    @staticmethod
    def optimize(path: Path, by: str | None = None, value: str = "", zorder: list[str] | None = None) -> None:
        filters = None if by is None else [(by, "=", value)]
        optimize = DeltaTable(path).optimize
        if zorder:
            optimize.z_order(zorder, partition_filters=filters)
        else:
            optimize.compact(partition_filters=filters)


def rows(path: Path, where: str | None = None) -> list[dict[str, Any]]:
    """Rows as deltaic reads them; without a condition, as `deltalake` does, too."""
    ours = pa.table(deltaic.Table(path).to_arrow(where=where)).to_pylist()
    if where is None:
        theirs = pa.table(DeltaTable(path).to_pyarrow_table()).to_pylist()
        assert sorted(map(repr, theirs)) == sorted(map(repr, ours))
    return sorted(ours, key=repr)


def adds(path: Path, version: int | None = None) -> list[dict[str, Any]]:
    """The files that a commit adds, by the log."""
    commits = sorted(Path(path, "_delta_log").glob("*.json"))
    text = commits[-1 if version is None else version].read_text(encoding="utf-8")
    actions = [json.loads(line) for line in text.splitlines()]
    return [action["add"] for action in actions if "add" in action]
