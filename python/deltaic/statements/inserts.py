"""INSERT and TRUNCATE for sessions whose Spark cannot carry them out on Delta tables: those of Spark Connect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from deltaic.exceptions import SchemaMismatchError, TableNotFoundError, UnsupportedError
from deltaic.spark import frames
from deltaic.spark.as_sparks import raises_sparks
from deltaic.spark.dml.delete import delete
from deltaic.spark.frame import functions, quoted
from deltaic.spark.settings import Settings, storage
from deltaic.spark.writer import save
from deltaic.statements.parts import listed
from deltaic.statements.queries import query
from deltaic.statements.run import ref_of
from deltaic.statements.words import Words, first_words
from deltaic.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_QUERIES = ("SELECT", "VALUES", "TABLE", "FROM", "WITH", "MAP", "REDUCE")


@dataclass(frozen=True)
class Insert:
    """What an INSERT says, or a TRUNCATE, which has no more than a name."""

    name: list[str]
    rows: str = ""
    """The query, as it is written."""
    overwrites: bool = False
    evolves: bool = False
    by_name: bool = False
    columns: list[str] | None = None
    partition: dict[str, str | None] | None = None
    """Partition columns with their values as SQL, none for those that the rows bring."""
    replaced: str | None = None
    """The condition of REPLACE WHERE."""
    truncates: bool = False


def parse_insert(text: str) -> Insert | None:
    """What an INSERT INTO, INSERT OVERWRITE or TRUNCATE TABLE says; None for any other statement.

    Raises:
        InvalidArgumentError: it begins as one and goes on otherwise. The error names the word and its place.
    """
    begun = _begin(text)
    return None if begun is None else _end(*begun)


@raises_sparks
def run_insert(spark: Any, text: str) -> DataFrame | None:
    """Carries it out, once; None for other statements and tables of other formats, which the server knows.

    Raises:
        InvalidArgumentError: as `parse_insert`.
        UnsupportedError: for a clause that is not about rows, by its name.
        DeltaError: as `deltaic.save`.
    """
    begun = _begin(text)
    if begun is None:
        return None
    try:
        ref = ref_of(spark, begun[1].name)
    except TableNotFoundError:
        return None
    insert = _end(*begun)
    if insert.truncates:
        delete(ref, truncates=True)
    else:
        table = Table(ref.path, storage_options=storage(spark, {}))
        rows = _placed(query(spark, insert.rows), insert, ref.path, table.schema.names)
        options = _options(spark, insert, table.partition_columns)
        mode = "overwrite" if insert.overwrites else "append"
        save(spark, rows, ref.path, mode, None, options, whole_partitions=False)
    nothing: DataFrame = frames.frame(spark, frames.NOTHING, [])
    return nothing


def _begin(text: str) -> tuple[Words, Insert] | None:
    """The statement up to the name of the table: what follows may be about a table of another format."""
    first = first_words(text, 4)
    if first[:1] not in (["TRUNCATE"], ["INSERT"]) or "DIRECTORY" in first:
        return None
    words = Words(text)
    if words.take("TRUNCATE"):
        words.need("TABLE")
        return words, Insert(words.name(), truncates=True)
    words.need("INSERT")
    evolves = words.take("WITH", "SCHEMA", "EVOLUTION")
    overwrites = words.take("OVERWRITE")
    if not overwrites:
        words.need("INTO")
    words.take("TABLE")
    return words, Insert(words.name(), overwrites=overwrites, evolves=evolves)


def _end(words: Words, insert: Insert) -> Insert:
    return _end_of_truncate(words, insert) if insert.truncates else _end_of_insert(words, insert)


def _end_of_insert(words: Words, insert: Insert) -> Insert:
    partition = dict(listed(words, _partition_column)) if words.take("PARTITION") else None
    if words.follows("IF"):
        _refuse(insert, "INSERT … IF NOT EXISTS", "look for the partition first")
    by_name = words.take("BY", "NAME")
    replaced = None
    if words.take("REPLACE", "WHERE"):
        replaced = words.raw_until(lambda: any(words.follows(word) for word in _QUERIES), "a condition")
    columns = None
    if words.sees("(") and not words.opens(*_QUERIES):
        columns = listed(words, _column)
    rows = words.raw_until(lambda: words.sees(";"), "a query")
    words.end()
    return replace(
        insert,
        rows=rows,
        overwrites=insert.overwrites or replaced is not None,
        by_name=by_name,
        columns=columns,
        partition=partition,
        replaced=replaced,
    )


def _end_of_truncate(words: Words, insert: Insert) -> Insert:
    if words.follows("PARTITION"):
        _refuse(insert, "TRUNCATE TABLE … PARTITION", "write a DELETE with a condition")
    words.end()
    return insert


def _refuse(insert: Insert, what: str, instead: str) -> NoReturn:
    path = insert.name[-1]
    raise UnsupportedError(f"`{path}`: {what} is not supported: {instead}", path=path, what=what)


def _partition_column(words: Words) -> tuple[str, str | None]:
    column = words.name("a partition column")[0]
    return column, words.raw_until(lambda: words.sees(","), "a value") if words.sign("=") else None


def _column(words: Words) -> str:
    return words.name("a column")[0]


def _placed(rows: Any, insert: Insert, path: str, columns: list[str]) -> Any:
    """The rows with the names of the columns that they are for, and the values that PARTITION gives."""
    fixed = _fixed(insert)
    if not insert.by_name:
        given = {name.lower() for name in fixed}
        there = [name for name in columns if name.lower() not in given]
        targets = insert.columns or there
        more = rows.columns[len(targets) :]
        if len(rows.columns) < len(targets) or (more and not insert.evolves):
            reason = f"the query has {len(rows.columns)} columns ({', '.join(rows.columns)}) for {', '.join(targets)}"
            raise SchemaMismatchError.of(path, reason)
        rows = rows.toDF(*targets, *more)
    F = functions(rows)  # noqa: N806 (as everywhere)
    return rows.withColumns({name: F.expr(value) for name, value in fixed.items()}) if fixed else rows


def _fixed(insert: Insert) -> dict[str, str]:
    return {name: value for name, value in (insert.partition or {}).items() if value is not None}


def _options(spark: Any, insert: Insert, partition_columns: list[str]) -> dict[str, str]:
    options = {"mergeSchema": "true"} if insert.evolves else {}
    if not insert.overwrites:
        return options
    fixed = _fixed(insert)
    dynamic = Settings.of(spark).dynamic_partitions
    if insert.replaced is not None:
        options["replaceWhere"] = insert.replaced
    elif dynamic and len(partition_columns) > len(fixed):
        options["partitionOverwriteMode"] = "dynamic"
    elif fixed:
        options["replaceWhere"] = " AND ".join(_equal(name, value) for name, value in fixed.items())
    else:
        options["partitionOverwriteMode"] = "static"
    return options


def _equal(name: str, value: str) -> str:
    return f"{quoted(name)} IS NULL" if value.upper() == "NULL" else f"{quoted(name)} = {value}"
