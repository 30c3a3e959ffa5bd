"""A player of tables with void columns: what is answered, and what the log and the files have of such columns."""

from __future__ import annotations

import functools
import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow.parquet as pq
from error_situations import reported

if TYPE_CHECKING:
    from collections.abc import Callable


class Player:
    """A session, a folder for the tables of a situation, and what was answered."""

    def __init__(self, spark: Any, delta_table: Any, folder: str, name: str) -> None:
        self.spark, self.tables, self.name = spark, delta_table, name
        self.path = f"{folder}/{name}-{uuid.uuid4()}"
        self.answers: list[Any] = []

    def other(self) -> str:
        return f"{self.path}-{uuid.uuid4()}"

    def sql(self, text: str, *paths: str) -> None:
        """A statement, in which `{t}` is the table."""
        self.do(lambda: no_rows(self.spark.sql(self._text(text, paths))))

    def rows(self, text: str, *paths: str) -> None:
        """Schema and rows of a query."""
        self.do(lambda: frame(self.spark.sql(self._text(text, paths))))

    def write(
        self, query: str, *paths: str, mode: str = "append", by: str | None = None, **options: Any
    ) -> None:
        def go() -> None:
            writer = self.spark.sql(query).write.format("delta").mode(mode).options(**options)
            (writer.partitionBy(by) if by else writer).save(paths[0] if paths else self.path)

        self.do(go)

    def do(self, go: Callable[[], Any]) -> None:
        """Notes what comes of it: a value, or the facts of the error."""
        try:
            self.answers.append(go())
        except Exception as error:  # noqa: BLE001 the error is the answer
            self.answers.append(error_of(error))

    def table(self, *paths: str) -> None:
        """Notes schema and rows of the table, and what the log says of it and of its newest files."""
        path = paths[0] if paths else self.path
        self.do(lambda: frame(self.spark.read.format("delta").load(path)))
        self.do(lambda: log(path))

    def _text(self, text: str, paths: tuple[str, ...]) -> str:
        return text.format(*(f"delta.`{p}`" for p in paths), t=f"delta.`{self.path}`")


def error_of(error: Exception) -> Any:
    known = reported(error)
    if known["condition"] == "STREAM_FAILED":
        # that of the query's end has the error that ended it in its text
        first = known["parameters"]["message"].split("[")[1:]
        return {"condition": first[0].split("]")[0] if first else None}
    return {"condition": known["condition"] or f"{known['classes'][0]}: {str(error)[:300]}"}


def frame(df: Any) -> Any:
    schema = [[f.name, f.dataType.simpleString(), f.nullable] for f in df.schema.fields]
    rows = sorted(json.dumps(row.asDict(recursive=True), default=str, sort_keys=True) for row in df.collect())
    return [schema, rows]


def no_rows(df: Any) -> None:
    df.collect()


def log(path: str) -> Any:
    """By the log: protocol and void columns; void columns in the last files, their rows and null counts."""
    protocol: Any = None
    schema: Any = None
    adds: list[Any] = []
    for commit in sorted(Path(path, "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in commit.read_text(encoding="utf-8").splitlines()]
        protocol = next((a["protocol"] for a in actions if "protocol" in a), protocol)
        schema = next((json.loads(a["metaData"]["schemaString"]) for a in actions if "metaData" in a), schema)
        adds = [a["add"] for a in actions if "add" in a]
    voids = void_paths(schema)
    stored: set[tuple[str, ...]] = set()
    rows, nulls = 0, dict.fromkeys(voids, 0)
    for add in adds:
        files = pq.ParquetFile(Path(path, unquote(add["path"]))).metadata.schema
        stored |= {tuple(files.column(i).path.split(".")) for i in range(len(files))}
        stats = json.loads(add["stats"])
        rows += stats["numRecords"]
        for names in voids:
            nulls[names] += functools.reduce(dict.__getitem__, names, stats["nullCount"])
    features = sorted({*protocol.get("writerFeatures", [])})
    versions = [protocol["minReaderVersion"], protocol["minWriterVersion"], features]
    # names of columns that are mapped are random
    return [versions, len(voids), len(stored & set(voids)), rows, sorted(nulls.values())]


def void_paths(schema: Any) -> list[tuple[str, ...]]:
    """The physical paths of void columns in a schema, but of those in arrays and maps."""
    found: list[tuple[str, ...]] = []
    for field in schema["fields"]:
        name = field["metadata"].get("delta.columnMapping.physicalName", field["name"])
        if field["type"] == "void":
            found.append((name,))
        elif isinstance(field["type"], dict) and field["type"]["type"] == "struct":
            found += [(name, *path) for path in void_paths(field["type"])]
    return found
