"""Row ids and row commit versions as delta-spark tells them, of tables that both made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

PROPERTIES = {
    "mapped": "'delta.enableRowTracking' = 'true', 'delta.columnMapping.mode' = 'name'",
    "for Iceberg": "'delta.enableIcebergCompatV3' = 'true'",
}
ASKED = "SELECT id, _metadata.row_id, _metadata.row_commit_version FROM delta.`{}`"


def reported(rows: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in rows)


@pytest.mark.parametrize("kind", PROPERTIES)
def test_all_tell_the_same(delta_spark: Any, spark: Any, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "t"
    properties = f"{PROPERTIES[kind]}, 'delta.enableDeletionVectors' = 'true'"
    delta_spark.sql(
        f"CREATE TABLE delta.`{path}` (id BIGINT, v STRING) USING delta TBLPROPERTIES ({properties})",
        f"INSERT INTO delta.`{path}` SELECT /*+ COALESCE(1) */ id, 'a' FROM range(20)",
        f"UPDATE delta.`{path}` SET v = 'b' WHERE id IN (5, 6)",
        f"DELETE FROM delta.`{path}` WHERE id = 7",
        f"OPTIMIZE delta.`{path}`",
        f"INSERT INTO delta.`{path}` SELECT /*+ COALESCE(1) */ id, 'c' FROM range(30, 35)",
    )
    for change in (None, "DELETE", "UPDATE", "OPTIMIZE"):
        if change == "DELETE":
            DeltaTable.forPath(spark, str(path)).delete("id = 31")
        elif change == "UPDATE":
            deltaic.Table(path).update_rows({"v": "'d'"}, "id IN (1, 32)")
        elif change == "OPTIMIZE":
            delta_spark.sql(f"OPTIMIZE delta.`{path}`")
        _, rows = delta_spark.answer(ASKED.format(path))
        theirs = reported(map(json.loads, rows))
        assert len({row_id for _, row_id, _ in theirs}) == len(theirs) > 20
        assert reported(pa.table(deltaic.Table(path).to_arrow(["id"], row_ids=True)).to_pylist()) == theirs
        assert reported(r.asDict() for r in spark.sql(ASKED.format(path)).collect()) == theirs


def test_rows_without_ids_are_an_error_of_both(delta_spark: Any, spark: Any, tmp_path: Path) -> None:
    from pyspark.errors import AnalysisException

    deltaic.write(tmp_path / "t", pa.table({"id": [1]}))
    with pytest.raises(AssertionError, match="FIELD_NOT_FOUND"):
        delta_spark.answer(ASKED.format(tmp_path / "t"))
    with pytest.raises(AnalysisException, match="FIELD_NOT_FOUND"):
        spark.sql(ASKED.format(tmp_path / "t"))
