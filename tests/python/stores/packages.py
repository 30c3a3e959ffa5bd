"""Servers and file systems of stores, from their packages, once a machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pyspark
import pytest
from peers import alone, cache

HERE = Path(__file__).parent
VERSITYGW = "1.8.0"


def tool(name: str, what: str) -> str:
    found = shutil.which(name)
    if found is None:
        reason = f"STORES NOT TESTED: `{name}` is not installed, and {what}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def versitygw() -> Path:
    """The S3 server versitygw, built from its Go module."""
    with alone():
        folder = cache() / f"versitygw-{VERSITYGW}"
        if not folder.exists():
            go = tool("go", "versitygw comes from the Go module proxy")
            draft = folder.with_suffix(f".{os.getpid()}")
            module = f"github.com/versity/versitygw/cmd/versitygw@v{VERSITYGW}"
            subprocess.run(
                [go, "install", module], check=True, timeout=900, env={**os.environ, "GOBIN": str(draft)}
            )
            draft.replace(folder)
    return folder / "versitygw"


def s3a() -> list[str]:
    """The JARs of Hadoop's file system S3A, for the Hadoop that this PySpark has."""
    (client,) = (Path(pyspark.__file__).parent / "jars").glob("hadoop-client-api-*.jar")
    version = client.stem.removeprefix("hadoop-client-api-")
    with alone():
        folder = cache() / f"s3a-{version}"
        if not folder.exists():
            maven = tool("mvn", "Hadoop's S3A comes from Maven Central")
            draft = folder.with_suffix(f".{os.getpid()}")
            copy = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-Dhadoop.version={version}"]
            # Spark has these
            given = ["-DexcludeGroupIds=io.netty,org.slf4j", f"-DoutputDirectory={draft}"]
            subprocess.run(
                [maven, "-q", "-B", "-f", str(HERE / "pom.xml"), *copy, *given], check=True, timeout=900
            )
            draft.replace(folder)
    return sorted(map(str, folder.glob("*.jar")))
