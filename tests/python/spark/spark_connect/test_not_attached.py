"""Servers that a client cannot attach to, or not with its version: why, and that the client does the work then."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from connect_server import connect_server
from served_sessions import agents_of, session

import deltaic
from deltaic.spark.bridge import compiler
from deltaic.spark.session.kind import served_name

pytestmark = [pytest.mark.spark, pytest.mark.long]
PACKAGE = Path(deltaic.__file__).parent
NO_PYTHON = "/nowhere/no-python"


def other_release(folder: Path) -> None:
    """The package with other classes, below a folder."""
    shutil.copytree(PACKAGE, folder / "deltaic", symlinks=True)
    with (folder / "deltaic/spark/bridge/Scala.java").open("a") as file:
        file.write("// of another release\n")


def works_by_the_client(spark: Any, path: str) -> None:
    """The format is the client's own, also where classes of the same format were uploaded."""
    assert served_name(spark) is None
    deltaic.save(spark.range(3), path)
    spark.range(5000).write.format("delta").mode("append").save(path)
    frame = spark.read.format("delta").load(path)
    assert frame.count() == 5003
    assert "LogFileIndex" not in frame._explain_string(extended=True)


def test_a_server_that_keeps_no_classes_apart(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import time\nfrom pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n"
        "while spark.range(1).count():\n    time.sleep(1)\n"
    )
    with connect_server(tmp_path, str(PACKAGE.parent), program=program) as url:
        spark = session(url)
        with pytest.warns(UserWarning, match=r"does not keep the classes of its sessions apart"):
            deltaic.enable(spark)
        works_by_the_client(spark, str(tmp_path / "t"))
        spark.stop()


def test_a_server_with_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other_release(tmp_path)
    with connect_server(tmp_path, str(tmp_path)) as url:
        for cached in (True, False):
            if not cached:
                monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
            spark = session(url)
            with pytest.warns(UserWarning, match=r"its Python.* has another version of deltaic"):
                deltaic.enable(spark)
            assert served_name(spark) is None
            spark.stop()


@pytest.mark.parametrize(
    "told", ["spark.pyspark.python", "spark.pyspark.driver.python", "PYSPARK_DRIVER_PYTHON"]
)
def test_the_python_that_the_server_is_told_is_the_one_that_would_serve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    of_spark = told.startswith("spark.")
    if not of_spark:
        monkeypatch.setenv(told, NO_PYTHON)
    more = {told: NO_PYTHON} if of_spark else {}
    with connect_server(tmp_path, str(PACKAGE.parent), more=more) as url:
        spark = session(url)
        with pytest.warns(UserWarning, match=rf"its Python `{NO_PYTHON}` does not start"):
            deltaic.enable(spark)
        if told == "spark.pyspark.python":  # the workers', too
            assert served_name(spark) is None
            assert spark.range(3).count() == 3
        else:
            works_by_the_client(spark, str(tmp_path / "t"))
        spark.stop()


def test_a_python_without_pyspark(tmp_path: Path) -> None:
    (tmp_path / "none/pyspark").mkdir(parents=True)
    (tmp_path / "none/pyspark/__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'pyspark'\")\n"
    )
    lacking = tmp_path / "python"
    lacking.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}/none:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    lacking.chmod(lacking.stat().st_mode | stat.S_IXUSR)
    more = {"spark.pyspark.driver.python": str(lacking)}
    with connect_server(tmp_path, str(PACKAGE.parent), more=more) as url:
        spark = session(url)
        with pytest.warns(UserWarning, match=r"cannot import what it needs \(No module named 'pyspark'\)"):
            deltaic.enable(spark)
        works_by_the_client(spark, str(tmp_path / "t"))
        spark.stop()


def test_versions_in_sessions_of_one_server_do_not_meet(stock: str, tmp_path: Path) -> None:
    other_release(tmp_path)
    command = [sys.executable, "-W", "ignore", "-m", "deltaic", "connect-conf", "--folder", str(tmp_path)]
    places = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": places, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, check=True)
    (other,) = tmp_path.glob("deltaic-*.jar")
    path = str(tmp_path / "t")
    one = deltaic.enable(session(stock))
    own = compiler.kept_jar(one.version)
    assert own is not None
    # one name has one content: Spark refuses to replace it
    assert own.name.split("-")[1] != other.name.split("-")[1]
    (tmp_path / "same").mkdir()
    replaced = str(shutil.copy(other, tmp_path / "same" / own.name))
    with pytest.raises(Exception, match="ARTIFACT_ALREADY_EXISTS"):
        one.addArtifact(replaced)
    one.range(3).write.format("delta").save(path)
    # in a session of its own the other version is not served by this one, and takes nothing from it
    two = session(stock)
    two.addArtifact(str(other))
    before = agents_of(one)
    with pytest.warns(UserWarning, match=r"has another version of deltaic than the JAR"):
        deltaic.enable(two)
    works_by_the_client(two, str(tmp_path / "of-two"))
    assert agents_of(one) == before
    # nor does it where it comes later
    one.addArtifact(str(other))
    assert one.sql(f"DELETE FROM delta.`{path}` WHERE id = 1").first()[0] == 1
    assert one.read.format("delta").load(path).count() == 2
    assert "LogFileIndex" in one.read.format("delta").load(path)._explain_string(extended=True)
    one.stop()
    two.stop()
