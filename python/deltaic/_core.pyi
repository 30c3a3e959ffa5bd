from collections.abc import Iterator, Sequence
from typing import Any, Final, final

__all__ = [
    "ArrowStream",
    "FileLines",
    "ScanPlan",
    "SparkTable",
    "Table",
    "WritePlan",
    "__version__",
    "add_columns",
    "add_constraint",
    "change_column",
    "convert",
    "create",
    "delete_rows",
    "drop_columns",
    "drop_constraint",
    "error_kinds",
    "fsck",
    "generate_manifest",
    "optimize",
    "read_split",
    "rename_column",
    "restore",
    "set_properties",
    "shallow_clone",
    "unset_properties",
    "update_rows",
    "vacuum",
    "verify",
    "write",
]

__version__: Final[str]

def error_kinds() -> list[tuple[str, list[str]]]: ...
def create(
    uri: str,
    schema: str,
    storage_options: dict[str, str],
    *,
    if_not_exists: bool,
    partition_by: list[str],
    configuration: dict[str, str],
    name: str | None,
    description: str | None,
) -> tuple[int, bool]: ...
def write(
    uri: str,
    data: object,
    storage_options: dict[str, str],
    *,
    mode: str,
    replace_where: str | None,
    dynamic_partitions: bool,
    partition_by: list[str],
    configuration: dict[str, str],
    name: str | None,
    description: str | None,
    compression: str | None,
    target_file_size: int | None,
    user_metadata: str | None,
    app_transaction: tuple[str, int] | None,
) -> tuple[int, int, int, int, int, bool, bool, list[str]]: ...
def delete_rows(
    table: Table,
    condition: str | None,
    *,
    compression: str | None,
    target_file_size: int | None,
    user_metadata: str | None,
    app_transaction: tuple[str, int] | None,
) -> str: ...
def update_rows(
    table: Table,
    assignments: list[tuple[str, str]],
    condition: str | None,
    *,
    compression: str | None,
    target_file_size: int | None,
    user_metadata: str | None,
    app_transaction: tuple[str, int] | None,
) -> str: ...
def vacuum(
    uri: str,
    storage_options: dict[str, str],
    mode: str,
    retention_millis: int | None,
    allow_short_retention: bool,
    dry_run: bool,
) -> str: ...
def restore(
    uri: str,
    storage_options: dict[str, str],
    version: int | None,
    timestamp: int | None,
    ignore_missing_files: bool,
) -> str: ...
def optimize(
    uri: str,
    storage_options: dict[str, str],
    predicate: str | None,
    target_size: int | None,
    min_size: int | None,
    max_deleted_ratio: float | None,
    user_metadata: str | None,
) -> str: ...
def fsck(uri: str, storage_options: dict[str, str], dry_run: bool) -> str: ...
def convert(
    uri: str,
    storage_options: dict[str, str],
    partition_schema: str | None,
    statistics: bool,
    configuration: dict[str, str],
) -> str: ...
def shallow_clone(table: Table, target: str, replace: bool, properties: dict[str, str]) -> str: ...
def generate_manifest(uri: str, storage_options: dict[str, str]) -> str: ...
def verify(uri: str, storage_options: dict[str, str], version: int | None, deep: bool) -> str: ...
def set_properties(table: Table, properties: dict[str, str]) -> int: ...
def unset_properties(table: Table, keys: list[str], if_exists: bool) -> int: ...
def add_columns(table: Table, schema: str, parent: list[str], first: bool, after: str | None) -> int: ...
def drop_columns(table: Table, paths: list[list[str]]) -> int: ...
def rename_column(table: Table, path: list[str], name: str) -> int: ...
def change_column(
    table: Table,
    path: list[str],
    schema: str | None,
    nullable: bool | None,
    comment: str | None,
    first: bool,
    after: str | None,
) -> int: ...
def add_constraint(table: Table, name: str, expression: str) -> int: ...
def drop_constraint(table: Table, name: str, if_exists: bool) -> int: ...

@final
class ArrowStream:
    def __arrow_c_stream__(self, requested_schema: object = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

@final
class FileLines:
    def __iter__(self) -> Iterator[str]: ...
    def __next__(self) -> str: ...

@final
class SparkTable:
    def __new__(
        cls, uri: str, version: int | None, timestamp: int | None, storage_options: dict[str, str]
    ) -> SparkTable: ...
    @property
    def identity(self) -> str: ...
    def describe(self) -> str: ...
    def files(self, predicate: str | None = None) -> bytes: ...
    def size(self) -> int: ...

@final
class Table:
    def __new__(
        cls,
        uri: str,
        version: int | None = None,
        timestamp: int | None = None,
        storage_options: dict[str, str] | None = None,
    ) -> Table: ...
    @property
    def version(self) -> int: ...
    @property
    def uri(self) -> str: ...
    @property
    def storage_options(self) -> dict[str, str]: ...
    @property
    def partition_columns(self) -> list[str]: ...
    def timestamp(self) -> int: ...
    def protocol(self) -> str: ...
    def metadata(self) -> str: ...
    def schema_json(self) -> str: ...
    def schema_capsule(self) -> Any: ...
    def report(self) -> str: ...
    def files(self, predicate: str | None = None, stats: bool = False) -> ArrowStream: ...
    def files_json(self, predicate: str | None = None, stats: bool = False) -> FileLines: ...
    def files_totals(self, predicate: str | None = None) -> tuple[int, int, int, int]: ...
    def rows(self, columns: list[str] | None = None, predicate: str | None = None) -> ArrowStream: ...
    def history(self, limit: int | None = None) -> str: ...
    def commit(self, version: int) -> str: ...
    def checkpoint(self) -> str: ...
    def compact_log(self, start: int, end: int) -> str: ...
    def clean_log(self, dry_run: bool) -> tuple[list[str], list[tuple[str, str]]]: ...
    def explain_conflict(self, transaction: str) -> str: ...
    def update(self) -> Table: ...

@final
class WritePlan:
    def __new__(
        cls,
        path: str,
        mode: str,
        schema: str,
        partition_by: Sequence[str] | None = None,
        *,
        replace_where: tuple[str, str] | None = None,
        dynamic_partitions: bool = False,
        merge_schema: bool = False,
        overwrite_schema: bool = False,
        data_change: bool = True,
        rules_held: bool = False,
        user_metadata: str | None = None,
        txn: tuple[str, int] | None = None,
        compression: str | None = None,
        max_records_per_file: int | None = None,
        configuration: dict[str, str] | None = None,
        engine: str | None = None,
        storage_options: dict[str, str] | None = None,
    ) -> WritePlan: ...
    @staticmethod
    def from_bytes(data: bytes) -> WritePlan: ...
    def to_bytes(self) -> bytes: ...
    @property
    def skip(self) -> bool: ...
    @property
    def direct(self) -> bool: ...
    @property
    def root(self) -> str: ...
    @property
    def columns(self) -> str: ...
    @property
    def rules(self) -> str: ...
    @property
    def compression(self) -> str | None: ...
    @property
    def partition_columns(self) -> list[str]: ...
    def write(self, data: object, folder: str | None = None) -> list[str]: ...
    def footer_adds(self, files: Sequence[str]) -> list[str]: ...
    def commit(self, adds: Sequence[str]) -> int | None: ...
    def discard(self, folder: str, adds: Sequence[str]) -> None: ...

@final
class ScanPlan:
    def __new__(
        cls,
        path: str,
        version: int | None = None,
        timestamp_millis: int | None = None,
        predicate: str | None = None,
        storage_options: dict[str, str] | None = None,
    ) -> ScanPlan: ...
    @property
    def root(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def schema(self) -> str: ...
    @property
    def num_files(self) -> int: ...
    @property
    def by_name(self) -> bool: ...
    @property
    def stored_schema(self) -> str: ...
    @property
    def columns(self) -> str: ...
    def splits(self, most_bytes: int) -> list[bytes]: ...
    def files(self) -> ArrowStream: ...

def read_split(split: bytes, columns: Sequence[str] | None = None) -> ArrowStream: ...
