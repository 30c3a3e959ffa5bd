"""Every operation through Spark Connect and through a classic session: same rows, same commits, same metrics."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from alike import SAID, compare
from dml_tables import KINDS, write_parts

import deltaic
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Step = Callable[[Any, str], Any]

pytestmark = pytest.mark.spark

MORE = """
    SELECT id, CAST(id % 4 AS string) AS p, CAST(id AS int) AS n, named_struct('a', 1, 'b', 'new') AS s
    FROM range({}, {}, 1, 1)
"""


def save(query: str, mode: str, *by: str, **options: str) -> Step:
    """By `deltaic.save`."""
    return lambda door, path: deltaic.save(
        door.sql(query), path, mode=mode, partition_by=by or None, **options
    )


def format_save(query: str, mode: str, **options: str) -> Step:
    """By `df.write.format("delta")`."""

    def step(door: Any, path: str) -> None:
        door.sql(query).write.format("delta").mode(mode).options(**options).save(path)

    return step


def call(*calls: Any) -> Step:
    """Methods one after the other, beginning with the `DeltaTable`."""

    def step(door: Any, path: str) -> Any:
        found = DeltaTable.forPath(door, path)
        for name, *arguments in calls:
            keywords = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
            found = getattr(found, name)(*arguments, **keywords)
        return found

    return step


def merge(*clauses: Any, on: str = "t.id = s.id", source: str = MORE.format(50, 70)) -> Step:
    """A merge with these clauses."""

    def step(door: Any, path: str) -> None:
        found: Any = DeltaTable.forPath(door, path).alias("t").merge(door.sql(source).alias("s"), on)
        for name, *arguments in clauses:
            keywords = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
            found = getattr(found, name)(*arguments, **keywords)
        found.execute()

    return step


def both(*steps: Step) -> Step:
    def step(door: Any, path: str) -> Any:
        return [one(door, path) for one in steps]

    return step


DML: dict[str, Step] = {
    "delete all": call(("delete",)),
    "delete partitions": call(("delete", "p = 'a'")),
    "delete rows": call(("delete", "n = 3 OR s.a > 50")),
    "delete nothing": call(("delete", "id < 0")),
    "update all": call(("update", {"set": {"n": "n + 1", "s.a": "7"}})),
    "update rows": call(("update", "n = 3", {"set": {"n": "n + 10", "p": "'moved'"}})),
    "update partitions": call(("update", "p = 'b'", {"set": {"n": "0"}})),
    "merge update": merge(("whenMatchedUpdate", "s.id % 2 = 0", {"set": {"n": "s.n + t.n"}})),
    "merge delete": merge(("whenMatchedDelete",)),
    "merge insert": merge(("whenNotMatchedInsert", {"values": {"id": "s.id", "p": "s.p"}})),
    "merge upsert": merge(("whenMatchedUpdateAll",), ("whenNotMatchedInsertAll",)),
    "merge by source": merge(
        ("whenNotMatchedBySourceUpdate", "t.n = 4", {"set": {"n": "-1"}}),
        ("whenNotMatchedBySourceDelete", "t.id < 5"),
    ),
    "merge every clause": merge(
        ("whenMatchedDelete", "s.id = 55"),
        ("whenMatchedUpdate", {"set": {"s.b": "s.p"}}),
        ("whenNotMatchedInsert", "s.id > 65", {"values": {"id": "s.id", "n": "s.n"}}),
        ("whenNotMatchedInsertAll",),
        ("whenNotMatchedBySourceDelete", "t.n = 2"),
        ("whenNotMatchedBySourceUpdate", {"set": {"p": "'left'"}}),
    ),
    "merge evolution": merge(
        ("withSchemaEvolution",),
        ("whenMatchedUpdateAll",),
        ("whenNotMatchedInsertAll",),
        source=f"SELECT *, id * 2 AS twice FROM ({MORE.format(58, 62)})",
    ),
    "merge null-safe": merge(
        ("whenMatchedDelete",), on="t.n <=> s.n", source="SELECT CAST(NULL AS int) AS n"
    ),
    "replace rows": save(MORE.format(100, 104), "overwrite", replaceWhere="id >= 100 OR n = 3"),
}
# without deletion vectors, those that leave rows of a file as they are
_REWRITTEN = (
    "delete rows",
    "update rows",
    "merge upsert",
    "merge by source",
    "merge every clause",
    "replace rows",
)
IDS = {**KINDS["everything"], "delta.columnMapping.mode": "id"}
# Spark's own reader does not find columns by id on Connect
_BY_ID = ("delete rows", "update rows", "merge every clause", "merge evolution")

_WIDE = "SELECT 100L AS id, 'z' AS p, 1 AS n, named_struct('a', 1, 'b', 'x', 'c', true) AS s, 'new' AS more"
WRITES: dict[str, Step] = {
    "append": save(MORE.format(60, 64), "append"),
    "ignore": save(MORE.format(60, 64), "ignore"),
    "overwrite": save(MORE.format(60, 64), "overwrite", userMetadata="all"),
    "dynamic": save(f"{MORE.format(60, 64)} WHERE id < 62", "overwrite", partitionOverwriteMode="dynamic"),
    "replace partitions": save(
        "SELECT 7L AS id, 'a' AS p, 1 AS n", "overwrite", replaceWhere="p = 'a'", mergeSchema="true"
    ),
    "merge schema": save(_WIDE, "append", mergeSchema="true"),
    "overwrite schema": save(_WIDE, "overwrite", "n", overwriteSchema="true"),
    "same rows": save(MORE.format(60, 64), "append", dataChange="false"),
    "once": both(*[save(MORE.format(60, 64), "append", txnAppId="app", txnVersion="1")] * 2),
    "few rows a file": save(MORE.format(60, 70), "append", maxRecordsPerFile="2", compression="gzip"),
    "driver": save(MORE.format(60, 64), "append", deltaicRoute="driver"),
}
FORMAT: dict[str, Step] = {
    "append": format_save(MORE.format(60, 64), "append"),
    "overwrite": format_save(MORE.format(60, 64), "overwrite", userMetadata="all"),
    "dynamic": format_save(MORE.format(60, 64), "overwrite", partitionOverwriteMode="dynamic"),
    "replace partitions": format_save("SELECT 7L AS id, 'a' AS p", "overwrite", replaceWhere="p = 'a'"),
    "replace rows": format_save(MORE.format(100, 104), "overwrite", replaceWhere="id >= 100 OR n = 3"),
    "merge schema": format_save(_WIDE, "append", mergeSchema="true"),
    "overwrite schema": format_save(_WIDE, "overwrite", overwriteSchema="true", partitionBy="n"),
    "same rows": format_save(MORE.format(60, 64), "append", dataChange="false"),
    "once": both(*[format_save(MORE.format(60, 64), "append", txnAppId="app", txnVersion="1")] * 2),
    "few rows a file": format_save(MORE.format(60, 70), "append", maxRecordsPerFile="2", compression="gzip"),
}
TABLES: dict[str, Step] = {
    "compaction": call(("optimize",), ("executeCompaction",), ("collect",)),
    "compaction of a partition": call(
        ("optimize",), ("where", "p = 'a'"), ("executeCompaction",), ("collect",)
    ),
    "z-order": call(("optimize",), ("executeZOrderBy", "id", "n"), ("collect",)),
    "vacuum": both(call(("delete", "p = 'a'")), call(("vacuum", 1000), ("collect",))),
    "restore": both(call(("delete",)), call(("restoreToVersion", 1), ("collect",))),
    "generate": call(("generate", "symlink_format_manifest")),
    "upgrade protocol": call(("upgradeTableProtocol", 1, 4)),
    "add feature": call(("addFeatureSupport", "deletionVectors")),
    "drop feature": both(
        call(("addFeatureSupport", "deletionVectors")), call(("dropFeatureSupport", "deletionVectors"))
    ),
    "history and detail": lambda door, path: [
        call(("history",), ("select", *SAID), ("collect",))(door, path),
        call(("detail",), ("drop", "id", "location", "createdAt", "lastModified"), ("collect",))(door, path),
    ],
    "clone": lambda door, path: DeltaTable.forPath(door, path).clone(f"{path} clone", True).toDF().count(),
}


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, str]], Path]:
    """Sixty rows in nine files of three commits, by the properties of the table."""
    made: dict[str, Path] = {}

    def base(properties: dict[str, str]) -> Path:
        name = json.dumps(properties)
        if name not in made:
            made[name] = tmp_path_factory.mktemp("base") / "t"
            write_parts(made[name], properties, by=["p"])
        return made[name]

    return base


@pytest.fixture
def on_both(spark: Any, connect: Any, bases: Any, tmp_path: Path) -> Callable[[dict[str, str], Step], None]:
    """Runs a step on two copies of a table and compares them."""

    def run(properties: dict[str, str], step: Step) -> None:
        paths, given = [], []
        for name, door in (("classic", spark), ("connect", connect)):
            # the paths have the same length: what holds them has the same size
            path = tmp_path / name / "t"
            shutil.copytree(bases(properties), path)
            said = repr(step(door, str(path))).replace(str(path), "PATH")
            given.append(
                re.sub(r"\b(min|max|avg|totalSize|startTimeMs|endTimeMs)=[\d.]+", r"\1=measured", said)
            )
            paths.append(str(path))
        compare(*paths)
        assert given[0] == given[1]

    return run


@pytest.mark.parametrize("name", DML)
def test_rows_are_changed_alike(on_both: Any, name: str) -> None:
    on_both(KINDS["everything"], DML[name])


@pytest.mark.parametrize("name", _REWRITTEN)
def test_files_are_rewritten_alike(on_both: Any, name: str) -> None:
    on_both(KINDS["rewrite with feed and row ids"], DML[name])


@pytest.mark.parametrize("name", _BY_ID)
def test_rows_of_columns_with_ids_are_changed_alike(on_both: Any, name: str) -> None:
    on_both(IDS, DML[name])


@pytest.mark.parametrize("name", WRITES)
def test_frames_are_saved_alike(on_both: Any, name: str) -> None:
    on_both({}, WRITES[name])


@pytest.mark.parametrize("name", FORMAT)
def test_the_format_writes_alike(on_both: Any, name: str) -> None:
    on_both({}, FORMAT[name])


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_kept_alike(on_both: Any, name: str) -> None:
    on_both({}, TABLES[name])


def test_tables_are_made_alike(spark: Any, connect: Any, tmp_path: Path) -> None:
    paths = []
    for name, door in (("classic", spark), ("connect", connect)):
        path = str(tmp_path / name / "t")
        for mode in ("create", "createIfNotExists", "replace", "createOrReplace"):
            builder = (
                getattr(DeltaTable, mode)(door)
                .location(path)
                .comment(mode)
                .property("delta.appendOnly", "false")
            )
            builder = builder.addColumn("id", "LONG", nullable=False).addColumn("day", "DATE", comment="when")
            builder.addColumn("year", "INT", generatedAlwaysAs="year(day)").partitionedBy("year").execute()
            deltaic.save(door.sql("SELECT 1L AS id, DATE'2024-02-29' AS day"), path, mode="append")
        paths.append(path)
    compare(*paths)


def test_folders_are_converted_alike(spark: Any, connect: Any, tmp_path: Path) -> None:
    paths = []
    for name, door in (("classic", spark), ("connect", connect)):
        for p in ("a", "b"):
            folder = tmp_path / name / "t" / f"p={p}"
            folder.mkdir(parents=True)
            pq.write_table(pa.table({"id": [1, 2]}), folder / "f.parquet")
        paths.append(str(tmp_path / name / "t"))
        DeltaTable.convertToDelta(door, f"parquet.`{paths[-1]}`", "p string")
    compare(*paths)
