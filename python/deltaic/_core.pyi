from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias, TypedDict, final

__all__ = [
    "CREDENTIALS",
    "JVM_CREDENTIALS",
    "SECRETS",
    "SESSION_CREDENTIALS",
    "ArrowStream",
    "Changes",
    "Convert",
    "ConvertTask",
    "Dml",
    "FileLines",
    "Optimize",
    "OptimizeGather",
    "OptimizeSpread",
    "OptimizeTask",
    "ScanPlan",
    "SparkTable",
    "StreamPart",
    "StreamSource",
    "Table",
    "Vacuum",
    "VacuumTask",
    "VerifyTask",
    "WritePlan",
    "__version__",
    "add_columns",
    "add_constraint",
    "arrow_schema_json",
    "change_columns",
    "check_place",
    "check_stream_places",
    "cluster_by",
    "conditions_of_kinds",
    "create",
    "create_like",
    "delete_rows",
    "drop_columns",
    "drop_constraint",
    "drop_feature",
    "error_conditions",
    "error_kinds",
    "fsck",
    "generate_manifest",
    "hadoop_settings",
    "known_properties",
    "merge_rows",
    "options_to_send",
    "probe_store",
    "read_split",
    "register_credentials",
    "rename_column",
    "replace_columns",
    "reset_application",
    "restore",
    "rule_functions",
    "set_properties",
    "shallow_clone",
    "sync_identity",
    "time_in_path",
    "unset_properties",
    "update_rows",
    "upsert_rows",
    "verify",
    "write",
]

CREDENTIALS: Final[str]
JVM_CREDENTIALS: Final[str]
SECRETS: Final[str]
SESSION_CREDENTIALS: Final[str]
__version__: Final[str]

def error_kinds() -> list[tuple[str, list[str]]]: ...

class _Condition(TypedDict):
    name: str
    sql_state: str
    spark_class: str
    parameters: list[tuple[str, str | None]]

def error_conditions() -> list[_Condition]: ...
def conditions_of_kinds() -> list[tuple[str, str]]: ...

class _TableDefinition(TypedDict):
    partition_by: list[str]
    cluster_by: list[list[str]]
    configuration: dict[str, str]
    defaults: dict[str, str]
    arbitrary_properties: bool
    name: str | None
    description: str | None
    user_metadata: str | None
    managed: bool
    engine: str | None

class _DefinedTable(TypedDict):
    version: int
    created: bool
    replaced: bool

def arrow_schema_json(schema: object) -> str: ...
def create(
    uri: str, schema: str, storage_options: dict[str, str], mode: str, definition: _TableDefinition
) -> _DefinedTable: ...
def check_place(uri: str, storage_options: dict[str, str]) -> None: ...
def hadoop_settings(uri: str, storage_options: dict[str, str]) -> dict[str, str]: ...
def options_to_send(uri: str, storage_options: dict[str, str]) -> dict[str, str]: ...
def register_credentials(
    name: str, function: Callable[[str, dict[str, str]], tuple[dict[str, str], float | None]]
) -> None: ...

class _TimeInPath(TypedDict):
    path: str
    millis: int

def time_in_path(uri: str, storage_options: dict[str, str]) -> _TimeInPath | None: ...

class _TableLike(TypedDict):
    configuration: dict[str, str]
    defaults: dict[str, str]
    user_metadata: str | None
    managed: bool
    engine: str | None

def create_like(table: Table, uri: str, storage_options: dict[str, str], definition: _TableLike) -> int: ...

class _WriteOptions(TypedDict):
    replace_where: str | None
    dynamic_partitions: bool
    partition_by: list[str]
    configuration: dict[str, str]
    name: str | None
    description: str | None
    compression: str | None
    target_file_size: int | None
    user_metadata: str | None
    app_transaction: tuple[str, int] | None

def write(
    uri: str, data: object, storage_options: dict[str, str], mode: str, options: _WriteOptions
) -> str: ...

# told of files that are done, all files, and the bytes of both
_Tell: TypeAlias = Callable[[int, int, int, int], object]

class _DmlOptions(TypedDict):
    compression: str | None
    target_file_size: int | None
    user_metadata: str | None
    app_transaction: tuple[str, int] | None

def delete_rows(
    table: Table,
    condition: str | None,
    options: _DmlOptions,
    tell: _Tell | None = None,
) -> str: ...
def update_rows(
    table: Table,
    assignments: list[tuple[str, str]],
    condition: str | None,
    options: _DmlOptions,
    tell: _Tell | None = None,
) -> str: ...

class _MergeClause(TypedDict):
    when: str
    action: str
    condition: str | None
    values: list[tuple[str, str]] | None

class _MergeRequest(TypedDict):
    condition: str
    target_alias: str
    source_alias: str
    clauses: list[_MergeClause]
    with_schema_evolution: bool

def merge_rows(
    table: Table,
    data: object,
    request: _MergeRequest,
    options: _DmlOptions,
    tell: _Tell | None = None,
) -> str: ...

class _UpsertRequest(TypedDict):
    id_cols: list[str]
    order_by: list[str]
    with_schema_evolution: bool

def upsert_rows(
    table: Table,
    data: object,
    request: _UpsertRequest,
    options: _DmlOptions,
    tell: _Tell | None = None,
) -> str: ...
def restore(
    table: Table,
    version: int | None,
    timestamp: int | None,
    ignore_missing_files: bool,
    user_metadata: str | None,
    tell: _Tell | None = None,
) -> str: ...
def rule_functions(kind: str) -> list[str]: ...
def reset_application(table: Table, app_id: str) -> int | None: ...
def fsck(uri: str, storage_options: dict[str, str], dry_run: bool) -> str: ...

class _CloneOptions(TypedDict):
    properties: dict[str, str]
    replace: bool
    user_metadata: str | None
    source_name: str | None

def shallow_clone(table: Table, target: str, options: _CloneOptions, tell: _Tell | None = None) -> str: ...
def generate_manifest(uri: str, storage_options: dict[str, str]) -> str: ...
def verify(
    uri: str,
    storage_options: dict[str, str],
    version: int | None,
    deep: bool,
    tasks: Callable[[str, list[str], int], list[str]] | None = None,
    tell: _Tell | None = None,
) -> str: ...
def probe_store(uri: str, storage_options: dict[str, str]) -> str: ...
def set_properties(
    table: Table, properties: dict[str, str], user_metadata: str | None, allow_arbitrary: bool = False
) -> int: ...
def known_properties() -> list[str]: ...
def unset_properties(table: Table, keys: list[str], if_exists: bool, user_metadata: str | None) -> int: ...

class _AddedColumns(TypedDict):
    schema: str
    parent: list[str]
    first: bool
    after: str | None

def add_columns(table: Table, added: list[_AddedColumns], user_metadata: str | None) -> int: ...
def cluster_by(table: Table, columns: list[list[str]], user_metadata: str | None) -> int: ...
def drop_columns(table: Table, paths: list[list[str]], user_metadata: str | None) -> int: ...
def rename_column(table: Table, path: list[str], name: str, user_metadata: str | None) -> int: ...
def sync_identity(table: Table, column: list[str], lowered: bool, user_metadata: str | None) -> int: ...
def replace_columns(table: Table, schema: str, user_metadata: str | None) -> int: ...

class _ChangedColumn(TypedDict):
    path: list[str]
    schema: str | None
    nullable: bool | None
    comment: str | None
    default: str | None
    first: bool
    after: str | None

def change_columns(
    table: Table,
    changed: list[_ChangedColumn],
    user_metadata: str | None,
) -> int: ...
def add_constraint(
    table: Table, name: str, expression: str, user_metadata: str | None, checked: int | None = None
) -> int: ...
def drop_constraint(table: Table, name: str, if_exists: bool, user_metadata: str | None) -> int: ...
def drop_feature(table: Table, name: str, truncate_history: bool, user_metadata: str | None) -> int: ...

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
        cls,
        uri: str,
        version: int | None,
        timestamp: int | None,
        storage_options: dict[str, str],
        verify: str | None = None,
    ) -> SparkTable: ...
    @property
    def identity(self) -> str: ...
    def describe(self) -> str: ...
    def newest(self) -> SparkTable | None: ...
    def check_analyzed(self, facts: str) -> None: ...
    def files(self, predicate: str | None = None, limit: int | None = None) -> bytes: ...
    def scan(
        self, storage_options: dict[str, str], predicate: str | None = None, row_ids: bool = False
    ) -> ScanPlan: ...
    def partitions(self) -> ArrowStream: ...
    def partition_values(self) -> list[dict[str, str | None]]: ...
    def may_have_deletion_vectors(self) -> bool: ...
    def rows(self) -> int | None: ...
    def size(self) -> int: ...

class _CleanedLog(TypedDict):
    deleted: list[str]
    failed: list[tuple[str, str]]

@final
class Table:
    def __new__(
        cls,
        uri: str,
        version: int | None = None,
        timestamp: int | None = None,
        storage_options: dict[str, str] | None = None,
        verify: str | None = None,
    ) -> Table: ...
    @property
    def version(self) -> int: ...
    @property
    def verify_level(self) -> Literal["fast", "checked", "full"]: ...
    @property
    def uri(self) -> str: ...
    @property
    def storage_options(self) -> dict[str, str]: ...
    @property
    def partition_columns(self) -> list[str]: ...
    def timestamp(self) -> int: ...
    def protocol(self) -> str: ...
    def metadata(self) -> str: ...
    def features(self) -> list[str]: ...
    def clustering_columns(self) -> list[list[str]]: ...
    def shown_clustering_columns(self) -> list[str]: ...
    def schema_json(self) -> str: ...
    def schema_capsule(self) -> Any: ...
    def report(self) -> str: ...
    def files(self, predicate: str | None = None, stats: bool = False) -> ArrowStream: ...
    def files_json(self, predicate: str | None = None, stats: bool = False) -> FileLines: ...
    def files_totals(self, predicate: str | None = None) -> str: ...
    def explain(self, predicate: str, limit: int | None = None, kept: bool | None = None) -> str: ...
    def rows(
        self,
        columns: list[str] | None = None,
        predicate: str | None = None,
        condition: str | None = None,
        row_ids: bool = False,
    ) -> ArrowStream: ...
    def changes(
        self,
        start: int | None = None,
        start_millis: int | None = None,
        end: int | None = None,
        end_millis: int | None = None,
        *,
        allow_out_of_range: bool = False,
    ) -> Changes: ...
    def history(self, limit: int | None = None) -> str: ...
    def commit(self, version: int) -> str: ...
    def checkpoint(self) -> str: ...
    def compact_log(self, start: int, end: int) -> str: ...
    def clean_log(self, dry_run: bool) -> _CleanedLog: ...
    def explain_conflict(self, transaction: str) -> str: ...
    def update(self) -> Table: ...

class _ChangeFiles(TypedDict):
    block: bytes
    size: int

@final
class Changes:
    @property
    def versions(self) -> tuple[int, int] | None: ...
    @property
    def version(self) -> int: ...
    @property
    def root(self) -> str: ...
    @property
    def schema(self) -> str: ...
    def rows(
        self, columns: list[str] | None = None, predicate: str | None = None, condition: str | None = None
    ) -> ArrowStream: ...
    def splits(self, most_bytes: int) -> list[bytes]: ...
    def commits(self) -> str: ...
    def describe(self) -> str: ...
    def check_analyzed(self, facts: str) -> None: ...
    def files(self) -> _ChangeFiles: ...

class _FileChoices(TypedDict):
    compression: str | None
    max_records_per_file: int | None
    parquet: dict[str, str]
    session_parquet: dict[str, str]
    compact_min_files: int | None
    compact_target_size: int | None
    compact_small_size: int | None
    compact_most_partitions: int | None

class _WriteDefinition(TypedDict):
    mode: str
    cluster_by: list[list[str]]
    managed: bool

class _WritePlanOptions(TypedDict):
    mode: str
    partition_by: list[str]
    replace_where: str | None
    dynamic_partitions: bool
    merge_schema: bool
    overwrite_schema: bool
    check_replaced: bool
    engine_replaces: bool
    data_change: bool
    rules_held: bool
    whole_partitions: bool
    shown: dict[str, str]
    user_metadata: str | None
    app_transaction: tuple[str, int] | None
    files: _FileChoices
    optimize_write: bool | None
    auto_compact: bool | None
    configuration: dict[str, str]
    defaults: dict[str, str]
    arbitrary_properties: bool
    engine: str | None
    defines: _WriteDefinition | None
    description: str | None
    at_version: int | None
    streams: bool
    saved_as_table: bool | None

@final
class WritePlan:
    def __new__(
        cls, path: str, storage_options: dict[str, str], schema: str, options: _WritePlanOptions
    ) -> WritePlan: ...
    @staticmethod
    def from_bytes(data: bytes) -> WritePlan: ...
    def to_bytes(self) -> bytes: ...
    @property
    def skip(self) -> bool: ...
    @property
    def direct(self) -> bool: ...
    @property
    def hadoop_settings(self) -> dict[str, str]: ...
    @property
    def root(self) -> str: ...
    @property
    def columns(self) -> str: ...
    @property
    def rules(self) -> str: ...
    @property
    def optimize_write(self) -> bool: ...
    @property
    def compression(self) -> str | None: ...
    @property
    def shreds_variants(self) -> bool: ...
    @property
    def parquet(self) -> dict[str, str]: ...
    @property
    def unfollowed(self) -> list[str]: ...
    @property
    def partition_columns(self) -> list[str]: ...
    def write(self, data: object, folder: str | None = None) -> list[str]: ...
    def footer_adds(self, files: Sequence[str]) -> list[str]: ...
    @property
    def uri(self) -> str: ...
    def table(self) -> SparkTable | None: ...
    def commit(
        self,
        adds: Sequence[str],
        reads: Sequence[str | None] | None = None,
        left_from: int | None = None,
    ) -> tuple[int | None, Optimize | None]: ...
    def discard(self, folder: str, adds: Sequence[str]) -> None: ...

class _OptimizeOptions(TypedDict):
    predicate: str | None
    partitions: list[dict[str, str | None]] | None
    target_size: int | None
    min_size: int | None
    max_deleted_ratio: float | None
    purge: bool
    user_metadata: str | None
    zorder_by: list[str]
    check_statistics: bool
    full: bool
    files: _FileChoices | None

class _OptimizeWorks(TypedDict):
    whole: list[str]
    samples: list[str]

class _OptimizeSample(TypedDict):
    bin: int
    rows: int
    chosen: bytes | None

class _OptimizeRanges(TypedDict):
    document: str
    count: int
    parts: list[str]

class _RangeRows(TypedDict):
    range: int
    rows: bytes

@final
class Optimize:
    def __new__(cls, uri: str, storage_options: dict[str, str], options: _OptimizeOptions) -> Optimize: ...
    def plan(self) -> int: ...
    def run(self, route: str | None = None, tell: _Tell | None = None) -> str: ...
    def task(self, run_bytes: int) -> str: ...
    def works(self, divided_from: int | None) -> _OptimizeWorks: ...
    def divide(self, samples: Sequence[_OptimizeSample]) -> _OptimizeRanges: ...
    def commit(self, answers: Sequence[str]) -> str | None: ...
    def discard(self) -> None: ...

@final
class OptimizeTask:
    def __new__(cls, document: str, ranges: str | None = None) -> OptimizeTask: ...
    def run(self, work: str) -> str: ...
    def sample(self, work: str) -> _OptimizeSample: ...
    def spread(self, work: str) -> OptimizeSpread: ...
    def gather(self, number: int) -> OptimizeGather: ...

@final
class OptimizeSpread:
    def __iter__(self) -> OptimizeSpread: ...
    def __next__(self) -> _RangeRows: ...

@final
class OptimizeGather:
    def push(self, rows: bytes) -> None: ...
    def finish(self) -> str: ...

class _VacuumOptions(TypedDict):
    mode: str
    retention_millis: int | None
    allow_short_retention: bool
    dry_run: bool
    inventory: list[tuple[str, int]] | None
    user_metadata: str | None

@final
class Vacuum:
    def __new__(cls, table: Table, options: _VacuumOptions) -> Vacuum: ...
    def run(self, route: str | None = None, tell: _Tell | None = None) -> str: ...
    def expected_files(self) -> int: ...
    def task(self) -> str: ...
    def folders(self) -> list[str]: ...
    def take_listing(self, answers: Sequence[str]) -> None: ...
    def plan(self) -> int: ...
    def begin(self) -> list[str]: ...
    def finish(self, answers: Sequence[str]) -> str: ...

@final
class Convert:
    def __new__(
        cls,
        uri: str,
        storage_options: dict[str, str],
        partition_schema: str | None,
        statistics: bool,
        configuration: dict[str, str],
        user_metadata: str | None,
    ) -> Convert: ...
    def set_catalog_table(self, name: str) -> None: ...
    def clone_to(self, uri: str, storage_options: dict[str, str], options: _CloneOptions) -> None: ...
    def plan(self) -> int: ...
    def run(self, tell: _Tell | None = None) -> str: ...
    def works(self) -> list[str]: ...
    def task(self) -> str: ...
    def take(self, answers: Sequence[str]) -> list[str]: ...
    def commit(self) -> str: ...

@final
class ConvertTask:
    def __new__(cls, document: str) -> ConvertTask: ...
    def run(self, work: str) -> str: ...

@final
class VerifyTask:
    def __new__(cls, document: str) -> VerifyTask: ...
    def run(self, work: str) -> str: ...

@final
class VacuumTask:
    def __new__(cls, document: str) -> VacuumTask: ...
    def run(self, work: str) -> str: ...

class _ScanRequest(TypedDict):
    version: int | None
    timestamp_millis: int | None
    predicate: str | None
    row_ids: bool
    verify: str | None

@final
class ScanPlan:
    def __new__(cls, path: str, storage_options: dict[str, str], request: _ScanRequest) -> ScanPlan: ...
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
    @property
    def row_id_columns(self) -> list[str]: ...
    def row_id_bases(self) -> ArrowStream: ...
    def splits(self, most_bytes: int) -> list[bytes]: ...
    def files(self) -> ArrowStream | None: ...

@final
class StreamSource:
    def __new__(
        cls,
        path: str,
        options: dict[str, str],
        start_millis: int | None,
        storage_options: dict[str, str],
        settings: dict[str, str] | None = None,
        metadata_path: str | None = None,
    ) -> StreamSource: ...
    def describe(self) -> str: ...
    @property
    def schema(self) -> str: ...
    def stop_at_what_is_there(self) -> None: ...
    def first(self) -> str: ...
    def head(self) -> str: ...
    def latest(
        self, start: str | None = None, *, everything: bool = False, max_files: int | None = None
    ) -> str | None: ...
    def batch(self, start: str | None, end: str) -> list[StreamPart]: ...
    def begin_log(self, start: str | None, end: str) -> None: ...
    def commit(self, end: str) -> None: ...
    @property
    def schema_version(self) -> int: ...

class _StreamPlace(TypedDict):
    table: str
    location: str
    uri: str
    source: str | None

def check_stream_places(checkpoint: str, places: list[_StreamPlace], anywhere: bool) -> None: ...

@final
class StreamPart:
    def describe(self, identity: str) -> str: ...
    def files(self) -> bytes: ...
    def size(self) -> int: ...
    def splits(self, most_bytes: int) -> list[bytes]: ...

class _SparkDmlOptions(TypedDict):
    user_metadata: str | None
    app_transaction: tuple[str, int] | None
    auto_compact: bool | None
    vectors: bool
    files: _FileChoices
    engine: str | None

class _TakenRows(TypedDict):
    rows: int
    matches: int

@final
class Dml:
    def __new__(
        cls,
        path: str,
        storage_options: dict[str, str],
        operation: str,
        parameters: dict[str, str],
        options: _SparkDmlOptions,
    ) -> Dml: ...
    @staticmethod
    def of_write(plan: WritePlan) -> Dml: ...
    @property
    def version(self) -> int: ...
    @property
    def recorded(self) -> bool: ...
    @property
    def root(self) -> str: ...
    @property
    def schema(self) -> str: ...
    @property
    def new_schema(self) -> str: ...
    def filled(self, column: str) -> str | None: ...
    def evolve(self, schema: str) -> None: ...
    @property
    def partition_columns(self) -> list[str]: ...
    def check_removable(self) -> None: ...
    @property
    def uses_vectors(self) -> bool: ...
    @property
    def has_change_feed(self) -> bool: ...
    @property
    def row_id_columns(self) -> list[str]: ...
    def set_predicate(self, predicate: str | None) -> None: ...
    @property
    def uri(self) -> str: ...
    def table(self) -> SparkTable: ...
    def read_rows_of(self, reads: Sequence[str | None]) -> None: ...
    def read_files(self, uris: Sequence[str]) -> None: ...
    def partitions(self, number: str) -> ArrowStream: ...
    def take_all(self) -> None: ...
    def take_partitions(self, numbers: Sequence[int]) -> None: ...
    def take_where(self, condition: str, most_bytes: int) -> bool: ...
    def take_rows(self, table: object) -> _TakenRows: ...
    def counts(self) -> str: ...
    def describe(self, part: str, identity: str, row_ids: bool) -> str: ...
    def files(self, part: str, predicate: str | None = None) -> bytes: ...
    def size(self) -> int: ...
    def scan(self, part: str, row_ids: bool, predicate: str | None = None) -> ScanPlan: ...
    def matched_rows(self) -> ArrowStream: ...
    def may_find_pairs(self, most_bytes: int) -> bool: ...
    def find_pairs(
        self,
        source: object,
        keys: Sequence[tuple[str, str, bool]],
        most_pairs: int,
        most_held_bytes: int,
    ) -> int | None: ...
    def paired_rows(self, columns: Sequence[str], row_ids: bool, most_bytes: int) -> ArrowStream | None: ...
    def copy_left(self, new: object = None) -> None: ...
    def row_id_bases(self) -> ArrowStream: ...
    def data_plan(self, schema: str, changed: bool, folder: str) -> WritePlan: ...
    def insert_plan(self, schema: str, folder: str) -> WritePlan: ...
    def change_plan(self, schema: str, folder: str) -> WritePlan: ...
    def add_files(self, adds: Sequence[str]) -> None: ...
    def add_inserts(self, adds: Sequence[str], as_changes: bool) -> None: ...
    def add_changes(self, files: Sequence[str]) -> None: ...
    def commit(
        self,
        by_vectors: bool,
        metrics: dict[str, int],
        left_from: int | None = None,
        routes: Sequence[str] | None = None,
    ) -> tuple[int, Optimize | None]: ...
    def discard(self) -> None: ...

def read_split(
    split: bytes, columns: Sequence[str] | None = None, places: tuple[str, str] | None = None
) -> ArrowStream: ...
