"""Servers and file systems of stores, from their packages, once a machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pyspark
import pytest
from peers import alone, cache

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
AZURITE = "3.35.0"
FAKE_GCS_SERVER = "1.56.1"
GCS_CONNECTOR = "4.0.4"
VERSITYGW = "1.8.0"


def tool(name: str, what: str) -> str:
    """The path of a program."""
    found = shutil.which(name)
    if found is None:
        not_tested(f"`{name}` is not installed, and {what}")
    return found


def not_tested(reason: str) -> NoReturn:
    """Skips the test, but where everything can be installed and fetched: there it fails."""
    reason = f"STORES NOT TESTED: {reason}"
    if os.environ.get("GITHUB_ACTIONS"):
        pytest.fail(reason)
    pytest.skip(reason)


def once(name: str, make: Callable[[Path], object]) -> Path:
    """A folder of the cache that is made once a machine, in a draft that becomes it."""
    with alone():
        folder = cache() / name
        if not folder.exists():
            draft = folder.with_suffix(f".{os.getpid()}")
            try:
                make(draft)
            except subprocess.SubprocessError as error:
                not_tested(f"{name} cannot be fetched: {error}")
            draft.replace(folder)
    return folder


def _go(program: str, module: str, version: str) -> Path:
    """A program, built from its Go module."""

    def build(draft: Path) -> None:
        go = tool("go", f"{program} comes from the Go module proxy")
        environment = {**os.environ, "GOBIN": str(draft)}
        subprocess.run([go, "install", f"{module}@v{version}"], check=True, timeout=900, env=environment)

    return once(f"{program}-{version}", build) / program


def versitygw() -> Path:
    """The S3 server versitygw."""
    return _go("versitygw", "github.com/versity/versitygw/cmd/versitygw", VERSITYGW)


def fake_gcs_server() -> Path:
    """The server fake-gcs-server, which speaks as Google Cloud Storage does."""
    return _go("fake-gcs-server", "github.com/fsouza/fake-gcs-server", FAKE_GCS_SERVER)


def azurite() -> list[str]:
    """How Azurite, Microsoft's emulator of Azure Storage, starts: its blobs alone."""
    node = tool("node", "Azurite runs on Node")

    def install(draft: Path) -> None:
        npm = tool("npm", "Azurite comes from the npm registry")
        # its dependencies have nothing to build
        quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        subprocess.run(
            [npm, "install", *quiet, "--prefix", draft, f"azurite@{AZURITE}"], check=True, timeout=900
        )

    folder = once(f"azurite-{AZURITE}", install)
    return [node, str(folder / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js")]


def hadoop_version() -> str:
    """The version of the Hadoop that this PySpark has."""
    (client,) = (Path(pyspark.__file__).parent / "jars").glob("hadoop-client-api-*.jar")
    return client.stem.removeprefix("hadoop-client-api-")


def s3a() -> list[str]:
    """The JARs of Hadoop's file system S3A, for the Hadoop that this PySpark has."""
    return _jars("s3a", "pom.xml")


def abfs() -> list[str]:
    """As `s3a`, of ABFS."""
    return _jars("abfs", "azure.xml")


def _jars(name: str, pom: str) -> list[str]:
    version = hadoop_version()

    def copy(draft: Path) -> None:
        maven = tool("mvn", "Hadoop's file systems come from Maven Central")
        goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-Dhadoop.version={version}"]
        # Spark has these
        given = ["-DexcludeGroupIds=io.netty,org.slf4j", f"-DoutputDirectory={draft}"]
        subprocess.run([maven, "-q", "-B", "-f", str(HERE / pom), *goal, *given], check=True, timeout=900)

    return sorted(map(str, once(f"{name}-{version}", copy).glob("*.jar")))


def gcs_connector() -> list[str]:
    """The JAR of Google's file system for Hadoop, which has all that it needs in it."""

    def copy(draft: Path) -> None:
        maven = tool("mvn", "Google's connector comes from Maven Central")
        artifact = f"com.google.cloud.bigdataoss:gcs-connector:{GCS_CONNECTOR}:jar:shaded"
        goal = ["dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={draft}"]
        # of no project
        subprocess.run([maven, "-q", "-B", *goal], check=True, timeout=900, cwd=draft.parent)

    return sorted(map(str, once(f"gcs-connector-{GCS_CONNECTOR}", copy).glob("*.jar")))
