"""SQL by JDBC: a Thrift server of Spark that has the settings of `connect-conf`, and Hive's own client."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from connect_server import thrift_server

import deltaic

STATEMENTS = """
CREATE DATABASE d;
CREATE TABLE d.t (id INT, v STRING, g INT GENERATED ALWAYS AS (id + 1)) USING delta
    TBLPROPERTIES ('delta.enableDeletionVectors' = 'true');
INSERT INTO d.t (id, v) VALUES (1, 'a'), (2, 'b'), (3, 'c');
UPDATE d.t SET v = 'z' WHERE id = 1;
DELETE FROM d.t WHERE id = 2;
MERGE INTO d.t t USING (SELECT 3 AS id, 'm' AS v UNION ALL SELECT 9, 'n') s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v);
SELECT concat_ws(':', 'now', id, v, g) AS row FROM d.t ORDER BY id;
SELECT concat_ws(':', 'then', id, v) AS row FROM d.t VERSION AS OF 1 ORDER BY id;
OPTIMIZE d.t;
CREATE OR REPLACE TABLE d.other USING delta AS SELECT id FROM d.t;
SELECT concat_ws(':', 'count', count(*)) AS row FROM d.other;
INSERT INTO d.t (id, v, g) VALUES (1, 'broken', 7);
RESTORE TABLE d.t TO VERSION AS OF 1;
SELECT concat_ws(':', 'restored', id, v) AS row FROM d.t ORDER BY id;
"""
ANSWERS = {
    *("now:1:z:2", "now:3:m:4", "now:9:n:10"),
    *("then:1:a", "then:2:b", "then:3:c"),
    "count:3",
    *("restored:1:a", "restored:2:b", "restored:3:c"),
}


@pytest.mark.spark
@pytest.mark.long
def test_a_thrift_server_has_delta_tables(tmp_path: Path) -> None:
    package = str(Path(deltaic.__file__).parents[1])
    command = [sys.executable, "-W", "ignore", "-m", "deltaic", "connect-conf", "--folder", str(tmp_path)]
    reported = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    settings = dict(line.split(None, 1) for line in reported.splitlines())
    (tmp_path / "statements.sql").write_text(STATEMENTS)
    with thrift_server(tmp_path, package, more=settings) as url:
        beeline = [str(Path(pyspark.__file__).parent / "bin" / "beeline"), "-u", url, "--silent=true"]
        beeline += ["--force=true", "--outputformat=csv2", "-f", str(tmp_path / "statements.sql")]
        environment = {**os.environ, "SPARK_HOME": str(Path(pyspark.__file__).parent)}
        told = subprocess.run(beeline, capture_output=True, text=True, env=environment, timeout=300)
    rows = {
        line for line in told.stdout.splitlines() if line.startswith(("now:", "then:", "count:", "restored:"))
    }
    assert rows == ANSWERS, told.stderr[-3000:]
    broken = "deltaic.exceptions.InvariantViolationError: [DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] a row breaks"
    assert broken in told.stderr, told.stderr
    assert "(state=23001," in told.stderr, told.stderr
    log = deltaic.Table(tmp_path / "warehouse/d.db/t").history()
    assert [commit["operation"] for commit in log][::-1] == [
        *("CREATE TABLE", "WRITE", "UPDATE", "DELETE", "MERGE", "OPTIMIZE", "RESTORE")
    ]
