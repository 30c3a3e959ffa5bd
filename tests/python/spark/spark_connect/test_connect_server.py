"""What is particular to Spark Connect: one relation in many queries, and a server that has no deltaic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from connect_server import connect_server

import deltaic
from deltaic.spark.session.worker_errors import PackageNotOnServerError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.spark
MISSING = "the deltaic package is missing on the Spark server"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of a server that cannot import deltaic."""
    from pyspark.sql.connect.session import SparkSession

    folder = tmp_path_factory.mktemp("bare")
    (folder / "deltaic").mkdir()
    (folder / "deltaic/__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'deltaic'\")\n")
    with connect_server(folder, str(folder)) as url:
        session = SparkSession.builder.remote(url).create()
        with pytest.warns(
            UserWarning, match=r"does not serve Delta tables itself: its Python.* cannot import"
        ):
            deltaic.enable(session)
        yield session
        session.stop()


def test_queries_on_one_relation_do_not_hear_of_each_others_filters(connect: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(connect.range(100).selectExpr("id", "id % 2 AS p"), path, partition_by="p")
    df = connect.read.format("delta").load(path)
    df.createOrReplaceTempView("one_relation")
    for query in (df, connect.table("one_relation")):
        assert query.where("p = 1").count() == 50
        assert query.where("p = 0 OR id < 10").count() == 55
        assert query.count() == 100
        assert query.where("p = 0").union(query.where("id + 1 > 90")).count() == 60


def test_the_format_says_what_is_missing(bare: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(bare.createDataFrame([(1,)], "id long"), path)
    with pytest.raises(Exception, match=MISSING):
        bare.read.format("delta").load(path).count()
    with pytest.raises(Exception, match=MISSING):
        bare.range(5).write.format("delta").mode("append").save(path)
    assert deltaic.read(bare, path).count() == 1, "what needs no worker works"


def test_a_write_raises_a_class_of_deltaic(bare: Any, tmp_path: Path) -> None:
    with pytest.raises(PackageNotOnServerError, match=MISSING):
        deltaic.save(bare.range(5000), str(tmp_path / "t"))
    assert not list(tmp_path.rglob("*.parquet"))
