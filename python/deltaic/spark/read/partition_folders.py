"""A folder of a partition as the path of a read: the rows of the table that are in it, as for delta-spark."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from deltaic import _core
from deltaic.exceptions import InvalidArgumentError, InvalidPredicateError, TableNotFoundError
from deltaic.predicates import from_sql

if TYPE_CHECKING:
    from collections.abc import Mapping

_NULL = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = frozenset({"byte", "short", "integer", "long"})
_REAL = re.compile(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?")
_TRAVELLED = re.compile(r"(.*)(@(?:v[0-9]+|[0-9]{17}))", re.DOTALL)


class PartitionFolder(NamedTuple):
    """What a path below a table names."""

    root: str
    """The table, with the version of the path."""
    table: Any
    """A `SparkTable` of it."""
    predicate: str
    """The JSON of what is true for the rows of the folder."""


def partition_folder(
    path: str,
    version: int | None,
    timestamp: int | None,
    storage: Mapping[str, str],
    verify: str | None = None,
) -> PartitionFolder | None:
    """The meaning of a path that is not a table itself: a folder of partitions with files, or None.

    Raises:
        InvalidArgumentError: the folder is in a table, and none of its partitions.
    """
    travelled = _TRAVELLED.fullmatch(path)
    plain, at = (travelled[1], travelled[2]) if travelled else (path, "")
    parts = plain.rstrip("/").split("/")
    first = next((i for i, part in enumerate(parts) if "=" in part), len(parts))
    last = next((i for i in reversed(range(len(parts))) if "=" in parts[i]), -1)
    for end in range(last, first - 1, -1):
        root = "/".join(parts[:end]) + at
        try:
            table = _core.SparkTable(root, version, timestamp, dict(storage), verify)
        except TableNotFoundError:
            continue
        predicate = _predicate(json.loads(table.describe()), "/".join(parts[end:]))
        return PartitionFolder(root, table, predicate) if _has_files(table, predicate) else None
    return None


def table_of(path: str, storage: Mapping[str, str]) -> str:
    """The table that a folder of partitions with files is in; any other path is its own.

    Raises:
        InvalidArgumentError: the folder is in a table, and none of its partitions.
    """
    if "=" not in path or _TRAVELLED.fullmatch(path):
        return path
    try:
        _core.SparkTable(path, None, None, dict(storage))
    except TableNotFoundError:
        found = partition_folder(path, None, None, storage)
        return path if found is None else found.root
    return path


def both(one: str | None, other: str) -> str:
    """The JSON of a predicate that is true where both are."""
    return other if one is None else json.dumps({"and": [json.loads(one), json.loads(other)]})


class PartOfTable:
    """One version of a table, with the files of some of its partitions: answers as a `SparkTable`."""

    def __init__(self, table: Any, predicate: str) -> None:
        self._table = table
        self._predicate = predicate
        self.identity = f"{table.identity} {predicate}"

    def describe(self) -> str:
        """Schema, partitioning and properties as JSON, with the predicate of the partitions."""
        facts = json.loads(self._table.describe())
        return json.dumps({**facts, "identity": self.identity, "partition": self._predicate})

    def files(self, predicate: str | None) -> bytes:
        """The files of the partitions that may hold a row for which the predicate is true."""
        return bytes(self._table.files(both(predicate, self._predicate)))

    def scan(self, storage: dict[str, str], predicate: str | None, row_ids: bool) -> Any:  # noqa: FBT001
        """The plan of a read of these files by the core."""
        return self._table.scan(storage, both(predicate, self._predicate), row_ids)

    def size(self) -> int:
        """Bytes of all files of the table."""
        return int(self._table.size())

    def may_have_deletion_vectors(self) -> bool:
        """Whether a file of the table may have one."""
        return bool(self._table.may_have_deletion_vectors())

    def partitions(self) -> Any:
        """The partition values of the table."""
        return self._table.partitions()


def _has_files(table: Any, predicate: str) -> bool:
    none = json.dumps({"and": [json.loads(predicate), {"or": []}]})
    return bytes(table.files(predicate)) != bytes(table.files(none))


def _predicate(facts: dict[str, Any], fragment: str) -> str:
    types = {field["name"]: field["type"] for field in facts["schema"]["fields"]}
    pairs = [part.partition("=") for part in fragment.split("/")]
    if not all(sign for _, sign, _ in pairs):
        reason = f"a partition path fragment should be the form like `part1=foo/part2=bar`, not `{fragment}`"
        raise InvalidArgumentError.of("path", reason).named("DELTA_INVALID_PARTITION_PATH", path=fragment)
    values = [(unquote(name), unquote(text)) for name, _, text in pairs]
    others = ", ".join(f"`{name}`" for name, _ in values if name not in facts["partitionColumns"])
    if others:
        reason = (
            f"non-partitioning column(s) {others} are specified where only partitioning columns are expected"
        )
        error = InvalidArgumentError.of("path", f"{reason}: {fragment}")
        raise error.named("DELTA_NON_PARTITION_COLUMN_SPECIFIED", columnList=others, fragment=fragment)
    return json.dumps({"and": [json.loads(_equal(name, types[name], text)) for name, text in values]})


def _equal(name: str, data_type: str, text: str) -> str:
    quoted = "`" + name.replace("`", "``") + "`"
    if text == _NULL:
        return from_sql(f"{quoted} IS NULL")
    try:
        return from_sql(f"{quoted} = {_literal(data_type, text)}")
    except (InvalidPredicateError, ValueError) as error:
        reason = f"`{text}` is not a value of the partition column `{name}`, which is {data_type}"
        raise InvalidArgumentError.of("path", reason) from error


def _literal(data_type: str, text: str) -> str:
    """A value of a type in SQL.

    Raises:
        ValueError: the text is none of this type, or there is no SQL for it.
    """
    literal = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if data_type.startswith(("string", "varchar", "char")):
        return literal
    if data_type in {"date", "timestamp", "timestamp_ntz"}:
        return f"{data_type.upper()} {literal}"
    if data_type in _WHOLE:
        return str(int(text))
    if data_type == "boolean" and text.lower() in {"true", "false"}:
        return text.upper()
    if data_type.startswith(("float", "double", "decimal")) and _REAL.fullmatch(text):
        return f"CAST({text} AS {data_type})"
    raise ValueError(text)
