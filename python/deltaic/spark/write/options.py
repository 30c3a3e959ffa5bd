"""The options of a write, checked before anything runs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from deltaic.exceptions import InvalidArgumentError, UnsupportedError
from deltaic.predicates import unqualified
from deltaic.spark.session.known_options import OPTIONS_REFUSED
from deltaic.spark.session.settings import Settings, whole
from deltaic.spark.session.switches import switch
from deltaic.spark.session.time_zone import in_utc
from deltaic.spark.write.replacing import ON, USING, Replacing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deltaic import _core
    from deltaic.spark.write.definition import Definition

_MODES = {
    "errorifexists": "errorifexists",
    "error": "errorifexists",
    "default": "errorifexists",
    "append": "append",
    "ignore": "ignore",
    "overwrite": "overwrite",
}
# what Spark itself puts among the options
_SPARKS_OWN = frozenset({"path", "__partition_columns", "storageoptions"})
# what a catalog puts among the options of a table that it knows by name
CATALOGS_OWN = frozenset({"location", "provider", "owner", "serialization.format"})
_BESIDE = "cannot be used with the `{}` option"
_ROUTES = frozenset({"auto", "direct", "driver", "arrow"})


@dataclass(frozen=True)
class WriteOptions:
    """What `.option(…)` of a write may say. Names compare without case."""

    user_metadata: str | None = None
    txn_app_id: str | None = None
    txn_version: int | None = None
    compression: str | None = None
    max_records_per_file: int | None = None
    parquet: dict[str, str] = field(default_factory=dict)
    """Settings of Parquet's own writer."""
    hadoop: dict[str, str] = field(default_factory=dict, repr=False)
    """Settings of file systems, for Spark's writer."""
    files: _core._FileChoices = field(default_factory=lambda: Settings().files())
    """The settings of data files for `_core`: these, and those of the session."""
    arbitrary_properties: bool = False
    """The session's setting for unknown properties."""
    store: dict[str, str] = field(default_factory=dict)
    """The session's settings for every store."""
    route: str = "auto"
    partition_by: list[str] | None = None
    merge_schema: bool | None = None
    overwrite_schema: bool = False
    data_change: bool = True
    replace_where: str | None = None
    target_alias: str | None = None
    """The name of the table in `replace_where`."""
    where_given: str | None = None
    """The condition as it was given, where `replace_where` says the same in other words."""
    replacing: Replacing | None = None
    dynamic_partitions: bool | None = None
    optimize_write: bool | None = None
    auto_compact: bool | None = None
    """The session's setting for it."""
    replaced_by_spark: bool = False
    """Whether Spark finds the rows that `replace_where` selects: the core cannot evaluate it as this session does."""
    check_replaced: bool = True
    """Whether rows that `replace_where` would not replace are refused: the session's setting for it."""
    configuration: dict[str, str] = field(default_factory=dict)
    """Properties of a new table: the options that begin with `delta.`."""
    defaults: dict[str, str] = field(default_factory=dict)
    """Properties of a new table that `configuration` does not name: the session's defaults."""

    @classmethod
    def parse(cls, path: str, options: Mapping[str, str]) -> WriteOptions:
        """The options of a write to `path`.

        Raises:
            UnsupportedError: for an option that would change what is written and is not supported, by its
            name. Other unknown options are ignored, as in delta-spark.
            InvalidArgumentError: for a value that makes no sense.
        """
        given: dict[str, str] = {}
        parquet: dict[str, str] = {}
        hadoop: dict[str, str] = {}
        configuration: dict[str, str] = {}
        for name, value in options.items():
            key = name.lower()
            if key in _SPARKS_OWN | CATALOGS_OWN:
                continue
            if key.startswith("delta."):
                configuration[name] = str(value)
                continue
            if key.startswith("parquet."):
                # after a # is the name of a column
                setting, *column = name.split("#", 1)
                parquet["#".join([setting.lower(), *column])] = str(value)
            elif key.startswith(("fs.", "dfs.")):
                hadoop[name] = str(value)
            elif key in OPTIONS_REFUSED and _is_refused(key, str(value)):
                what = f"the write option `{name}`"
                raise UnsupportedError(
                    f"`{path}`: {what} is not supported: {OPTIONS_REFUSED[key].why}", path=path, what=what
                )
            given[key] = str(value)
        txn = (given.get("txnappid"), _txn_version(given.get("txnversion")))
        if (txn[0] is None) != (txn[1] is None):
            reason = "txnAppId and txnVersion go together: give both, or none"
            error = InvalidArgumentError.of("txnAppId", reason)
            raise error.named("DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS")
        route = given.get("deltaicroute", "auto").lower()
        if route not in _ROUTES:
            raise InvalidArgumentError.of(
                "deltaicRoute", f"`{route}` is none of {', '.join(sorted(_ROUTES))}"
            )
        names = given.get("partitionby")
        compression = given.get("compression", given.get("parquet.compression"))
        most_rows = _most_rows(given.get("maxrecordsperfile"))
        return cls(
            user_metadata=given.get("usermetadata"),
            txn_app_id=txn[0],
            txn_version=txn[1],
            compression=compression,
            max_records_per_file=most_rows,
            files=Settings().files(compression, most_rows, parquet),
            parquet=parquet,
            hadoop=hadoop,
            route=route,
            partition_by=None if names is None else [n.strip() for n in names.split(",") if n.strip()],
            merge_schema=switch("mergeSchema", given.get("mergeschema")),
            overwrite_schema=switch("overwriteSchema", given.get("overwriteschema")) or False,
            data_change=switch("dataChange", given.get("datachange")) is not False,
            replace_where=given.get("replacewhere"),
            target_alias=given.get("targetalias"),
            replacing=Replacing.of(given),
            dynamic_partitions=_overwrite_mode(given.get("partitionoverwritemode")),
            optimize_write=switch("optimizeWrite", given.get("optimizewrite")),
            configuration=configuration,
        )

    @property
    def _ends_partitioning(self) -> bool:
        """Whether the table has no partition columns after an overwrite."""
        return self.overwrite_schema and not self.partition_by

    @property
    def of_store(self) -> dict[str, str]:
        """Those of `hadoop` that are settings of its file systems: they apply to the log, too."""
        return {name: value for name, value in self.hadoop.items() if name.lower().startswith("fs.")}

    def partitioned(self, columns: Sequence[str] | None) -> WriteOptions:
        """By these columns, where there are any."""
        return replace(self, partition_by=list(columns)) if columns else self

    def defining(self, definition: Definition) -> WriteOptions:
        """Of a write that makes or replaces the table."""
        given = replace(self, configuration=definition.properties, dynamic_partitions=False)
        return given.partitioned(definition.partition_by)

    def in_session(self, settings: Settings) -> WriteOptions:
        """With what the session's settings say where the options are silent, as delta-spark reads them.

        Raises:
            InvalidArgumentError: for what the session does not allow.
        """
        dynamic, txn = self.dynamic_partitions, (self.txn_app_id, self.txn_version)
        if dynamic is None and self.replace_where is None and not self._ends_partitioning:
            dynamic = settings.dynamic_partitions
        if dynamic and not settings.dynamic_allowed:
            reason = "`spark.databricks.delta.dynamicPartitionOverwrite.enabled` is false"
            error = InvalidArgumentError.of("partitionOverwriteMode", reason)
            raise error.named("DELTA_DYNAMIC_PARTITION_OVERWRITE_DISABLED")
        if self.txn_app_id is None and settings.txn is not None:
            txn = settings.txn
        return replace(
            self,
            merge_schema=settings.merge_schema if self.merge_schema is None else self.merge_schema,
            dynamic_partitions=dynamic,
            user_metadata=settings.user_metadata if self.user_metadata is None else self.user_metadata,
            txn_app_id=txn[0],
            txn_version=txn[1],
            optimize_write=settings.optimize_write if self.optimize_write is None else self.optimize_write,
            auto_compact=settings.auto_compact,
            check_replaced=settings.check_replaced or not settings.replace_data_columns,
            defaults=settings.defaults,
            files=settings.files(self.compression, self.max_records_per_file, self.parquet),
            arbitrary_properties=settings.arbitrary_properties,
            store=settings.store,
        )

    def of_mode(self, mode: str) -> WriteOptions:
        """Of a write or a definition: without the condition where nothing is replaced, as in delta-spark."""
        nothing = mode in ("append", "create", "errorifexists", "ignore") and self.replacing is None
        return replace(self, replace_where=None) if nothing else self

    def plain(self, *, case_sensitive: bool) -> WriteOptions:
        """With a condition that calls the columns of the table by their names alone."""
        if self.replace_where is None or self.target_alias is None:
            return self
        plain = unqualified(self.replace_where, self.target_alias, case_sensitive=case_sensitive)
        return replace(self, replace_where=plain, where_given=self.replace_where)

    def by_spark(self) -> WriteOptions:
        """With a condition that Spark evaluates."""
        return replace(self, replaced_by_spark=True)

    def without_condition(self) -> WriteOptions:
        """Of files whose rows need not meet the condition."""
        return replace(self, replace_where=None)

    @property
    def within(self) -> str | None:
        """The condition that new rows must meet, if they are checked."""
        return self.replace_where if self.check_replaced else None

    @property
    def shown(self) -> dict[str, str]:
        """What the history shows of the condition of an overwrite as it was given."""
        if self.replacing is not None:
            return self.replacing.shown
        return {} if self.where_given is None else {"predicate": self.where_given}

    def zoned(self, zone: str, path: str, storage_options: Mapping[str, str] | None) -> WriteOptions:
        """With a condition that means in any time zone what it means in this one.

        Raises:
            UnsupportedError: as `time_zone.in_utc`.
        """
        if self.replace_where is None:
            return self
        where = in_utc(zone, self.replace_where, path, storage_options)
        return replace(self, replace_where=where, where_given=self.where_given or self.replace_where)

    def for_batch(self, txn: tuple[str, int] | None) -> WriteOptions:
        """For a batch of a stream, which records an application and its version."""
        app_id, version = (None, None) if txn is None else txn
        return replace(self, txn_app_id=app_id, txn_version=version, dynamic_partitions=False)

    def check_stream(self, mode: str) -> None:
        """Checks that each batch of a stream can be written so.

        Raises:
            InvalidArgumentError: an option says what is replaced, or how columns change, as no stream does.
        """
        for name, is_given, instead in (
            ("replaceWhere", self.replace_where is not None, "use foreachBatch"),
            ("replaceOn, replaceUsing", self.replacing is not None, "use foreachBatch"),
            ("overwriteSchema", self.overwrite_schema and mode == "append", "it is for complete"),
        ):
            if is_given:
                raise InvalidArgumentError.of(name, f"not for a stream: {instead}")

    def check_replacing(self, mode: str) -> None:
        """Checks that no other option decides what is replaced, besides `replaceOn` or `replaceUsing`.

        Raises:
            InvalidArgumentError: one does.
        """
        replacing = self.replacing
        if replacing is None:
            return
        refusal: InvalidArgumentError | None = None
        if replacing.on is not None and replacing.using is not None:
            refusal = _both(ON, USING)
        elif self.replace_where is not None:
            refusal = InvalidArgumentError.of("replaceWhere", _BESIDE.format(replacing.option))
            refusal.named("DELTA_OVERWRITE_BY_FILTER_INCOMPATIBLE_REPLACE_ON_OR_USING")
        elif replacing.has_overwrite_mode:
            refusal = InvalidArgumentError.of("partitionOverwriteMode", _BESIDE.format(replacing.option))
            refusal.named("DELTA_DYNAMIC_PARTITION_OVERWRITE_INCOMPATIBLE_REPLACE_ON_OR_USING")
        elif self.overwrite_schema and mode == "overwrite":
            refusal = _both("overwriteSchema", replacing.option)
        elif not self.data_change:
            refusal = _both("dataChange", replacing.option)
        if refusal is not None:
            raise refusal


def save_mode(path: str, mode: str | None) -> str:
    """The mode in lower case: `errorifexists` (Spark's default), `append`, `overwrite` or `ignore`.

    Raises:
        UnsupportedError: for another mode, by its name.
    """
    name = (mode or "errorifexists").lower()
    if name not in _MODES:
        raise UnsupportedError(
            f"`{path}`: the save mode `{name}` is not supported", path=path, what=f"the save mode `{name}`"
        )
    return _MODES[name]


def _is_refused(key: str, value: str) -> bool:
    return value.strip().lower() not in OPTIONS_REFUSED[key].default.split()


def _overwrite_mode(text: str | None) -> bool | None:
    if text is None:
        return None
    if text.lower() not in ("static", "dynamic"):
        error = InvalidArgumentError.of("partitionOverwriteMode", f"`{text}` is neither static nor dynamic")
        raise error.named("DELTA_ILLEGAL_OPTION", input=text, explain="must be 'STATIC' or 'DYNAMIC'")
    return text.lower() == "dynamic"


def _most_rows(text: str | None) -> int | None:
    """What `maxRecordsPerFile` says: 0, which is no limit, for numbers below it, as in Spark."""
    return None if text is None else max(0, whole("maxRecordsPerFile", text))


def _txn_version(text: str | None) -> int | None:
    try:
        return None if text is None else whole("txnVersion", text, 0)
    except InvalidArgumentError as error:
        explain = "must be a non-negative integer"
        raise error.named("DELTA_ILLEGAL_OPTION", input=text, explain=explain) from None


def _both(first: str, second: str) -> InvalidArgumentError:
    error = InvalidArgumentError.of(first, _BESIDE.format(second))
    return error.named(
        "DELTA_INCOMPATIBLE_DATAFRAME_OPTIONS", firstDeltaOption=first, secondDeltaOption=second
    )
