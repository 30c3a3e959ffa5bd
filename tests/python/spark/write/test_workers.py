"""Workers that run another Python than the session does, one that has no deltaic."""

from __future__ import annotations

import venv
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from deltaic.spark.session import python_workers
from deltaic.spark.session.worker_errors import PackageNotOnServerError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# the folders that tests run from are handed to all workers
_HIDES = """import os, sys
sys.path[:] = [folder for folder in sys.path if not os.path.isdir(os.path.join(folder, "deltaic"))]
"""


@pytest.fixture
def other_python(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What starts the workers of the session: a virtual environment with nothing in it."""
    venv.create(tmp_path / "bare", symlinks=True)
    packages = next((tmp_path / "bare").rglob("site-packages"))
    (packages / "sitecustomize.py").write_text(_HIDES)
    python = str(tmp_path / "bare/bin/python")
    monkeypatch.setattr(spark.sparkContext, "pythonExec", python)
    return python


def test_spark_itself_writes_where_its_workers_cannot(
    spark: SparkSession, other_python: str, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    data = spark.range(0, 3000, 1, 2).selectExpr("id", "id % 3 AS p")
    data.write.format("delta").partitionBy("p").save(str(path))
    data.write.format("delta").mode("append").save(str(path))
    writers = {pq.read_metadata(file).created_by.split()[0] for file in path.rglob("part-*.parquet")}
    assert writers == {"parquet-mr"}
    assert spark.read.format("delta").load(str(path)).count() == 6000
    assert not python_workers.fit(data)
    assert Path(other_python).exists()


def test_where_only_workers_can_write_the_error_says_which_python(
    spark: SparkSession, other_python: str, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    data = spark.range(0, 3000, 1, 2)
    data.selectExpr("id", "named_struct('a', id, 'b', id) AS s").write.format("delta").save(str(path))
    before = sorted(path.rglob("*"))
    # the core puts fields in the table's order
    other_order = data.selectExpr("id", "named_struct('b', id, 'a', id) AS s")
    with pytest.raises(PackageNotOnServerError) as caught:
        other_order.write.format("delta").mode("append").save(str(path))
    assert f"Python workers run `{other_python}`" in str(caught.value)
    assert "set PYSPARK_PYTHON to" in str(caught.value)
    assert sorted(path.rglob("*")) == before


def test_a_worker_with_this_python_is_not_asked(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("subprocess.run", fail)
    python_workers._fits.cache_clear()
    assert python_workers.fit(spark.range(1))
