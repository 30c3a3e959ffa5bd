"""`deltaic.tables` and `delta.tables`: the same names, and the same DataFrames of the same tables."""

from __future__ import annotations

import ast
import inspect
import json
import shutil
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F  # noqa: N812

import deltaic
from deltaic import exceptions, tables
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path

Signature = list[tuple[str, str, Any]]


def _classes(package: Path) -> dict[str, ast.ClassDef]:
    tree = ast.parse((package / "delta" / "tables.py").read_text())
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _is_overload(method: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "overload" for d in method.decorator_list)


def _theirs(node: ast.ClassDef) -> dict[str, Signature]:
    """Kind, name and default of each parameter of each public method; fields of a dataclass are those of its maker."""
    found: dict[str, Signature] = {}
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and not item.name.startswith("_") and not _is_overload(item):
            found[item.name] = _parameters(item.args)
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            found.setdefault("fields", []).append(("field", item.target.id, _default(item.value)))
    return found


def _parameters(args: ast.arguments) -> Signature:
    named = args.posonlyargs + args.args
    defaults = [inspect.Parameter.empty] * (len(named) - len(args.defaults)) + [*map(_default, args.defaults)]
    found = [("named", arg.arg, default) for arg, default in zip(named, defaults, strict=True)][1:]
    if args.vararg:
        found.append(("*", args.vararg.arg, inspect.Parameter.empty))
    keywords = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    return found + [("keyword", arg.arg, _default(default)) for arg, default in keywords]


def _default(node: ast.expr | None) -> Any:
    if node is None:
        return inspect.Parameter.empty
    return {} if ast.unparse(node) == "dict()" else ast.literal_eval(node)


# what deltaic has beside, by keyword alone
OWN = {("forPath", "credentials")}
KINDS = {
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "named",
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
}


def _ours(of: type) -> dict[str, Signature]:
    if is_dataclass(of):
        return {"fields": [("field", f.name, f.default) for f in fields(of)]}
    methods = {name: getattr(of, name) for name in vars(of) if not name.startswith("_")}
    return {
        name: [
            (KINDS[p.kind], p.name, p.default)
            for p in inspect.signature(method).parameters.values()
            if p.name != "self" and (name, p.name) not in OWN
        ]
        for name, method in methods.items()
    }


class TestNames:
    def test_the_same_classes(self, delta_package: Path) -> None:
        assert {name for name in _classes(delta_package) if not name.startswith("_")} == set(tables.__all__)

    @pytest.mark.parametrize("name", tables.__all__)
    def test_the_same_methods_parameters_and_defaults(self, delta_package: Path, name: str) -> None:
        theirs = _theirs(_classes(delta_package)[name])
        assert theirs
        assert _ours(getattr(tables, name)) == theirs

    def test_the_same_exceptions(self, delta_package: Path) -> None:
        tree = ast.parse((delta_package / "delta" / "exceptions" / "base.py").read_text())
        theirs = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        assert "ConcurrentAppendException" in theirs
        for name in theirs:
            assert issubclass(getattr(exceptions, name), exceptions.DeltaConcurrentModificationException)


@pytest.fixture
def path(tmp_path: Path, delta_spark: Any) -> Path:
    """A table that both have written."""
    path = tmp_path / "a table"
    for part in range(2):
        rows = pa.table({"id": range(part * 10, part * 10 + 10), "p": ["ab"[i % 2] for i in range(10)]})
        deltaic.write(path, rows, partition_by=["p"], configuration={"owner": "me"} if part == 0 else None)
    delta_spark.sql(
        f"INSERT INTO delta.`{path}` SELECT id + 20, 'a' FROM range(5)",
        f"DELETE FROM delta.`{path}` WHERE id = 3",
        f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.feature.deletionVectors' = 'supported')",
        f"RESTORE TABLE delta.`{path}` TO VERSION AS OF 3",
    )
    return path


def reported(df: Any) -> tuple[dict[str, Any], list[Any]]:
    # not `toJSON`, which warns of its own future
    rows = df.select(F.to_json(F.struct("*"))).collect() if df.columns else df.collect()
    return df.schema.jsonValue(), [json.loads(row[0]) for row in rows]


class TestFrames:
    def test_history_and_detail_of_one_table(self, spark: Any, delta_spark: Any, path: Path) -> None:
        table = DeltaTable.forPath(spark, str(path))
        for method, arguments in (("history", []), ("history", [2]), ("detail", [])):
            schema, rows = delta_spark.call(path, [method, *arguments])
            ours = reported(getattr(table, method)(*arguments))
            assert ours[0] == schema
            assert ours[1] == [json.loads(row) for row in rows]

    def test_operations_on_equal_tables(
        self, spark: Any, delta_spark: Any, path: Path, tmp_path: Path
    ) -> None:
        other = tmp_path / "another"
        shutil.copytree(path, other)
        table = DeltaTable.forPath(spark, str(path))
        schema, rows = delta_spark.call(other, ["restoreToVersion", 1])
        assert reported(table.restoreToVersion(1)) == (schema, [json.loads(row) for row in rows])

        schema, rows = delta_spark.call(other, ["optimize"], ["where", "p = 'a'"], ["executeCompaction"])
        ours, (row,) = reported(table.optimize().where("p = 'a'").executeCompaction())
        assert ours == schema
        assert self._facts(row) == self._facts(json.loads(rows[0]))

        schema, rows = delta_spark.call(other, ["optimize"], ["executeZOrderBy", "id"])
        ours, (row,) = reported(table.optimize().executeZOrderBy("id"))
        assert ours == schema
        their_order, order = (self._facts(r)["zOrderStats"] for r in (json.loads(rows[0]), row))
        assert {**order, "inputOtherFiles": 0, "mergedFiles": 0} == {
            **their_order,
            "inputOtherFiles": 0,
            "mergedFiles": 0,
        }

        schema, rows = delta_spark.call(other, ["vacuum"])
        assert reported(table.vacuum()) == (schema, rows)

    @staticmethod
    def _facts(row: dict[str, Any]) -> dict[str, Any]:
        """But for what depends on time, on the machine, and on how a writer packs bytes."""
        metrics = row["metrics"]
        for name in ("startTimeMs", "endTimeMs", "totalClusterParallelism"):
            del metrics[name]
        metrics["filesAdded"] = metrics["filesAdded"]["totalFiles"]
        return metrics
