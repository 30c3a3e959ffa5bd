"""The user's line is in Spark's errors, and no command asks the JVM to note a line of deltaic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from py4j.java_gateway import GatewayClient
from pyspark.errors import AnalysisException, utils
from pyspark.sql.functions import col

from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def count_notes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    notes: list[str] = []
    send = GatewayClient.send_command

    def counted(client: Any, command: str, *args: Any, **kwargs: Any) -> Any:
        if "PySparkCurrentOrigin" in command:
            notes.append(command)
        return send(client, command, *args, **kwargs)

    monkeypatch.setattr(GatewayClient, "send_command", counted)
    return notes


@pytest.fixture(autouse=True)
def lines_are_noted(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """PySpark asks once in a process whether to note lines, and notes none where no session was active then."""
    assert spark.getActiveSession() is not None
    monkeypatch.setattr(utils, "_enable_debugging_cache", None)


@pytest.fixture
def path(spark: SparkSession, tmp_path: Path) -> str:
    spark.range(5).selectExpr("id", "id * 2 AS v").write.format("delta").save(f"{tmp_path}/t")
    return f"{tmp_path}/t"


def test_commands_note_no_line(spark: SparkSession, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = spark.range(3, 8).selectExpr("id", "-id AS v")
    notes = count_notes(monkeypatch)
    DeltaTable.forPath(spark, path).update("id = 1", {"v": "v + 1"})
    merge = DeltaTable.forPath(spark, path).alias("t").merge(source.alias("s"), "t.id = s.id")
    merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id = 0")
    assert notes == []
    col("id")
    assert notes != []


def test_the_line_of_a_program_is_in_its_error(spark: SparkSession, path: str) -> None:
    spark.sql(f"UPDATE delta.`{path}` SET v = 0 WHERE id = 4")
    with pytest.raises(AnalysisException) as caught:
        spark.read.format("delta").load(path).select(col("lacking"))
    (context,) = caught.value.getQueryContext()
    assert context.fragment() == "col"
    assert __file__ in context.callSite()
