"""Uses of the public API that a type checker must take, with the types that it must see. Checked, never run."""

from datetime import date, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from typing_extensions import assert_type

import deltaic
from deltaic.exceptions import CommitConflictError, DeltaError, VersionNotFoundError
from deltaic.schema import Field, Schema
from deltaic.table import ArrowStream, FileTotals, Metadata, Protocol, Table, WriteResult

table = deltaic.Table("s3://bucket/t", storage_options={"aws_region": "eu-west-1"})
deltaic.Table(Path("t"), version=3)
deltaic.Table("t", timestamp="2026-01-01")
deltaic.Table("t", timestamp=date(2026, 1, 1))
deltaic.Table("t", timestamp=datetime(2026, 1, 1))

assert_type(table, Table)
assert_type(table.version, int)
assert_type(table.timestamp, datetime)
assert_type(table.uri, str)
assert_type(table.protocol, Protocol)
assert_type(table.protocol.reader_features, tuple[str, ...])
assert_type(table.metadata, Metadata)
assert_type(table.metadata.created_time, datetime | None)
assert_type(table.properties, dict[str, str])
assert_type(table.partition_columns, list[str])
assert_type(table.schema, Schema)
assert_type(table.schema.fields, tuple[Field, ...])
assert_type(table.files("id = 1", stats=True), ArrowStream)
assert_type(table.to_arrow(["id"], where="id = 1"), ArrowStream)
assert_type(table.totals(), FileTotals)
assert_type(table.history(10), list[dict[str, Any]])
assert_type(table.report, dict[str, Any])
assert_type(table.update(), Table)

result = deltaic.write("t", table.to_arrow(), mode="append", partition_by=["day"])
assert_type(result, WriteResult)
assert_type(result.version, int)

frame: Any = None
assert_type(deltaic.upsert(frame, "t", "id"), deltaic.UpsertResult)
assert_type(deltaic.scd2(frame, "t", ["id"], tracked=["city"]), deltaic.Scd2Result)
deltaic.upsert_batch("t", ["id"], order_by="seq", optimize_every=10)(frame, 0)
deltaic.upsert("t", frame)  # type: ignore[call-arg]

deltaic.Table(3)  # type: ignore[arg-type]
deltaic.write("t", table.to_arrow(), partition_by=3)  # type: ignore[arg-type]
table.version = 3  # type: ignore[misc]


def handled() -> int:
    try:
        table.update()
    except VersionNotFoundError as error:
        return error.earliest
    except CommitConflictError as error:
        assert_type(error.winner, str | None)
    except DeltaError as error:
        assert_type(error.kind, str)
    return 0


session = deltaic.enable()
assert_type(session, SparkSession)
assert_type(deltaic.enable(session), SparkSession)
