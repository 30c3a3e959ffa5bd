"""What a Spark Connect server would begin and not finish with a Delta table is refused before it is sent.

There `delta` is a Python data source, which is asked about a table of the catalog last: a REPLACE has dropped the name
by then, and the files of a managed table with it. All commands of a session go through its client, which checks them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any
from weakref import WeakSet, ref

from pyspark.errors import PySparkException

from deltaic import identifiers
from deltaic.exceptions import InvalidArgumentError, UnsupportedError
from deltaic.spark.catalog import names
from deltaic.statements.created_tables import Made, executed, made

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SAVE_AS_TABLE = 1
_OVERWRITE = 2
_REPLACES = (5, 6)
"""`TABLE_SAVE_METHOD_SAVE_AS_TABLE`, `MODE_OVERWRITE`, and of the second kind of writes `MODE_REPLACE` and
`MODE_CREATE_OR_REPLACE` of Spark Connect's protocol."""
_INSTEAD = (
    'deltaic.sql(spark, "CREATE OR REPLACE TABLE … AS SELECT …") replaces a table in one commit, and '
    'deltaic.save(df, path, mode="overwrite") overwrites one'
)

_guarded: WeakSet[Any] = WeakSet()


def guard(spark: Any, name: str) -> None:
    """Checks the commands of a session, from now on; `name` is that of the format there."""
    client = spark.client
    if client in _guarded:
        return
    session = ref(spark)
    client.execute_command = _before(client.execute_command, lambda command: _check(session(), name, command))
    client.to_table = _before(client.to_table, lambda plan: _check_plan(session(), name, plan))
    _guarded.add(client)


def _before(method: Callable[..., Any], check: Callable[[Any], None]) -> Callable[..., Any]:
    @functools.wraps(method)
    def checked(what: Any, *arguments: Any, **keywords: Any) -> Any:
        check(what)
        return method(what, *arguments, **keywords)

    return checked


def _check(spark: Any, name: str, command: Any) -> None:
    """Checks a command.

    Raises:
        UnsupportedError: the server would drop the name of a table of ours, or make one without a table.
    """
    kind = command.WhichOneof("command_type")
    if kind == "write_operation":
        write = command.write_operation
        table = write.table
        if table.save_method == _SAVE_AS_TABLE and write.mode == _OVERWRITE:
            said = write.source if write.HasField("source") else None
            _check_replaced(spark, name, table.table_name, said, "saveAsTable in the mode `overwrite`")
    elif kind == "write_operation_v2":
        write = command.write_operation_v2
        if write.mode in _REPLACES:
            said = write.provider if write.HasField("provider") else None
            _check_replaced(spark, name, write.table_name, said, "replace() and createOrReplace()")
    elif kind == "sql_command":
        for table in _made(spark, _text_of(command.sql_command)):
            _check_made(spark, name, table)


def _check_plan(spark: Any, name: str, plan: Any) -> None:
    """Checks what `spark.catalog` asks for; `createTable` without a path makes a name without a table."""
    catalog = plan.root.catalog
    if catalog.WhichOneof("cat_type") != "create_table" or catalog.create_table.HasField("path"):
        return
    asked = catalog.create_table
    if _is_ours(spark, name, asked.source if asked.HasField("source") else None):
        raise _refusal(asked.table_name, "createTable() without a path", _instead_of_create())


def _check_made(spark: Any, name: str, table: Made) -> None:
    text = identifiers.sql(table.name or ["IDENTIFIER(…)"])
    if table.replaces:
        said = name if table.name and identifiers.path_of(table.name) is not None else table.format
        _check_replaced(spark, name, text, said, "REPLACE TABLE by the server")
    elif not table.filled and _is_ours(spark, name, table.format):
        known = table.keeps and table.name is not None and spark.catalog.tableExists(text)
        if not known:
            raise _refusal(text, "CREATE TABLE by the server", _instead_of_create())


def _check_replaced(spark: Any, name: str, table: str, said: str | None, what: str) -> None:
    if _is_ours(spark, name, said):
        raise _refusal(
            table, what, f"{_INSTEAD}; the server would drop the name first, and the files with it"
        )
    if _is_known(spark, table):
        instead = (
            "DROP TABLE first: the server drops the name of this Delta table before it knows whether it can"
        )
        raise _refusal(table, f"a table of another format in the place of this one by {what}", instead)


def _is_ours(spark: Any, name: str, said: str | None) -> bool:
    """Whether a format is ours; without one it is the one of the session."""
    if said is None:
        said = spark.conf.get("spark.sql.sources.default", "")
    return said.lower() == name


def _is_known(spark: Any, table: str) -> bool:
    """Whether the catalog knows a table of ours by this name; False if it cannot find out."""
    try:
        return (
            bool(spark.catalog.tableExists(table)) and names.ours(spark, identifiers.parts(table)) is not None
        )
    except (InvalidArgumentError, PySparkException):
        return False


def _made(spark: Any, text: str) -> Iterator[Made]:
    yield from made(text)
    for expression in executed(text):
        try:
            inner = spark.sql(f"SELECT {expression}").first()[0]
        except PySparkException:
            # a variable of a script, or not a text: the server handles it
            continue
        yield from _made(spark, str(inner))


def _text_of(command: Any) -> str:
    relation = command.input
    if relation.HasField("with_relations"):
        relation = relation.with_relations.root
    text: str = relation.sql.query or command.sql
    return text


def _instead_of_create() -> str:
    return 'deltaic.sql(spark, "CREATE TABLE …") makes a table; the server would make a name without one'


def _refusal(table: str, what: str, instead: str) -> UnsupportedError:
    message = f"{table}: {what} is not supported on Spark Connect: {instead}"
    return UnsupportedError(message, path=table, what=what)
