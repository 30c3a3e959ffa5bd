"""The JAR of the bridge: made once, the same for the same sources, and not taken from where others can write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deltaic._core import SECRETS
from deltaic.spark.bridge import compiler

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "deltaic" / "bridge"


@pytest.mark.classic("makes the JAR by its own JVM")
def test_it_is_made_once_and_again_where_it_is_damaged(spark: SparkSession, cache: Path) -> None:
    def asked() -> Path:
        command = [sys.executable, "-W", "ignore", "-m", "deltaic", "connect-conf", "--json"]
        reported = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return Path(json.loads(reported)["spark.jars"])

    made = asked()
    assert made.parent == cache
    content, written = made.read_bytes(), made.stat().st_mtime_ns
    assert compiler.jar(spark.sparkContext._gateway) == compiler.kept_jar(spark.version) == made
    assert made.stat().st_mtime_ns == written
    made.write_bytes(content[:-100])
    assert asked().read_bytes() == content, "the same sources make the same bytes"
    assert list(cache.iterdir()) == [made]


@pytest.mark.classic("makes the JAR by its own JVM")
def test_it_says_what_it_was_made_of(spark: SparkSession) -> None:
    with zipfile.ZipFile(compiler.jar(spark.sparkContext._gateway)) as jar:
        assert json.loads(jar.read("deltaic/spark/build.json")) == {
            "sources": compiler.sources_hash(),
            "secrets": SECRETS,
        }
        service = "META-INF/services/org.apache.spark.sql.sources.DataSourceRegister"
        assert jar.read(service).decode().split() == ["deltaic.spark.DeltaSource"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_one_that_others_can_write_is_not_loaded(cache: Path) -> None:
    made = compiler.keep(f"{compiler.name_begins()}4.1.0-0.jar", _zip())
    assert compiler.kept_jar("4.1.0") == made
    made.chmod(0o602)
    assert compiler.kept_jar("4.1.0") is None
    made.chmod(0o600)
    cache.chmod(0o777)
    assert compiler.kept_jar("4.1.0") is None
    kept = compiler.keep(made.name, _zip())
    assert compiler.is_temporary(kept)
    assert kept.read_bytes() == _zip()


def _zip() -> bytes:
    return b"PK\x05\x06" + bytes(18)
