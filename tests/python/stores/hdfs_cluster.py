"""An HDFS of the tests: a process of its own."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import packages
import pyspark

from deltaic.spark.java import ensure_java

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
SERVICE = "cluster"


@dataclass(frozen=True)
class Hdfs:
    """Two NameNodes, of which the first is active, and a DataNode."""

    active: int
    standby: int
    commands: IO[str]
    answers: IO[str]

    @property
    def uri(self) -> str:
        """The nameservice."""
        return f"hdfs://{SERVICE}"

    @property
    def node(self) -> str:
        """The first NameNode."""
        return f"hdfs://127.0.0.1:{self.active}"

    @property
    def settings(self) -> dict[str, str]:
        """The nameservice, in Hadoop's settings."""
        provider = "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"
        return {
            "dfs.nameservices": SERVICE,
            f"dfs.ha.namenodes.{SERVICE}": "one,two",
            f"dfs.namenode.rpc-address.{SERVICE}.one": f"127.0.0.1:{self.active}",
            f"dfs.namenode.rpc-address.{SERVICE}.two": f"127.0.0.1:{self.standby}",
            f"dfs.client.failover.proxy.provider.{SERVICE}": provider,
        }

    def tell(self, command: str) -> list[str]:
        """Has the cluster do something, past any client of ours, and gives what it answers; see HdfsCluster.java."""
        self.commands.write(f"{command}\n")
        self.commands.flush()
        done, *found = self.answers.readline().split()
        assert done == "done", command
        return found


def site(folder: Path, name: str, settings: dict[str, str]) -> None:
    """Writes settings as Hadoop keeps them."""
    properties = "".join(
        f"<property><name>{key}</name><value>{value}</value></property>\n" for key, value in settings.items()
    )
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f'<?xml version="1.0"?>\n<configuration>\n{properties}</configuration>\n')


def jar() -> Path:
    """The JAR of a whole HDFS, fetched by Maven once a machine, for the Hadoop that this PySpark has."""
    version = packages.hadoop_version()

    def copy(draft: Path) -> None:
        maven = packages.tool("mvn", "HDFS comes from Maven Central")
        goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-Dhadoop.version={version}"]
        command = [maven, "-q", "-B", "-f", str(HERE / "hdfs.xml"), *goal, f"-DoutputDirectory={draft}"]
        subprocess.run(command, check=True, timeout=900)

    return packages.once(f"hdfs-{version}", copy)


@contextmanager
def cluster(folder: Path) -> Iterator[Hdfs]:
    """A cluster with its files in a folder."""
    java = ensure_java() / "bin" / "java"
    path = os.pathsep.join([f"{jar()}/*", f"{Path(pyspark.__file__).parent / 'jars'}/*"])
    command = [java, "-Xmx512m", "-cp", path]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, HERE / "HdfsCluster.java", folder / "data"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=folder,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        ready = process.stdout.readline().split()
        if ready[:1] != ["ready"]:
            raise AssertionError((folder / "log").read_text(errors="replace")[-6000:])
        yield Hdfs(int(ready[1]), int(ready[2]), process.stdin, process.stdout)
    finally:
        process.kill()
        process.wait(timeout=30)
