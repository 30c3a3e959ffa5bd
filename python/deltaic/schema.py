"""The schema of a table: an Arrow schema to peers, a tree to people."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True)
class Field:
    """A column, or a field of a struct."""

    name: str
    """Logical name."""
    type: str | dict[str, Any]
    """Type as the protocol writes it: a name such as `long` or `decimal(10,2)`, or the JSON of a nested type."""
    nullable: bool
    """Whether it can be null."""
    metadata: dict[str, Any]
    """Column metadata: column mapping, comment, default value (`CURRENT_DEFAULT`), generation …"""


@runtime_checkable
class ArrowSchema(Protocol):
    """A schema of pyarrow, Polars … by the Arrow PyCapsule interface."""

    def __arrow_c_schema__(self) -> object:
        """The schema as a capsule."""


class Schema:
    """The columns of one version. `pyarrow.schema(schema)` and other Arrow peers take it as it is."""

    __slots__ = ("_export", "_json", "fields")

    def __init__(self, schema_json: str, export: Callable[[], object]) -> None:
        self._json = schema_json
        self._export = export
        self.fields: tuple[Field, ...] = tuple(
            Field(f["name"], f["type"], f["nullable"], f["metadata"])
            for f in json.loads(schema_json)["fields"]
        )
        """The columns in order."""

    @property
    def names(self) -> list[str]:
        """Names of the columns in order."""
        return [field.name for field in self.fields]

    def json(self) -> str:
        """The schema in the form of the protocol, as `schemaString` has it.

        User-defined types that are not Spark's own are what they are stored as: no class that a table names is in it.
        """
        return self._json

    def __arrow_c_schema__(self) -> object:
        return self._export()

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and json.loads(self._json) == json.loads(other._json)

    def __hash__(self) -> int:
        return hash(tuple(self.names))

    def __repr__(self) -> str:
        return "\n".join(["root", *_tree(json.loads(self._json), "")])


def _tree(data_type: Any, indent: str) -> Iterator[str]:
    """The lines of a nested type, as Spark prints them."""
    if isinstance(data_type, str):
        return
    if data_type["type"] == "struct":
        for field in data_type["fields"]:
            facts = [f"nullable = {_word(field['nullable'])}", *_made(field["metadata"])]
            yield f"{indent} |-- {field['name']}: {_name(field['type'])} ({', '.join(facts)})"
            yield from _tree(field["type"], f"{indent} |   ")
    elif data_type["type"] == "array":
        element = data_type["elementType"]
        yield f"{indent} |-- element: {_name(element)} (containsNull = {_word(data_type['containsNull'])})"
        yield from _tree(element, f"{indent} |   ")
    elif data_type["type"] == "map":
        key, value = data_type["keyType"], data_type["valueType"]
        yield f"{indent} |-- key: {_name(key)}"
        yield from _tree(key, f"{indent} |   ")
        yield f"{indent} |-- value: {_name(value)} (valueContainsNull = {_word(data_type['valueContainsNull'])})"
        yield from _tree(value, f"{indent} |   ")


def _made(metadata: Mapping[str, Any]) -> Iterator[str]:
    """What a column holds where a write does not say."""
    for key, word in (("CURRENT_DEFAULT", "default"), ("delta.generationExpression", "generated")):
        if key in metadata:
            yield f"{word} = {metadata[key]}"
    if "delta.identity.start" in metadata:
        step = metadata.get("delta.identity.step", 1)
        yield f"identity from {metadata['delta.identity.start']} by {step}"


def _name(data_type: Any) -> str:
    return data_type if isinstance(data_type, str) else str(data_type["type"])


def _word(value: object) -> str:
    return str(value).lower()


def columns_json(columns: Mapping[str, str | dict[str, Any]] | str) -> str:
    """Columns as SQL writes them, or nullable ones with types by name, in the form of the protocol."""
    if isinstance(columns, str):
        from deltaic import ddl  # it reads SQL, which most programs have none of

        return ddl.schema_json(columns)
    fields = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in columns.items()]
    return json.dumps({"type": "struct", "fields": fields})
