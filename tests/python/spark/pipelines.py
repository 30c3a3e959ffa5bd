"""Projects of Spark Declarative Pipelines, which the command `spark-pipelines` runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGE = Path(__file__).parents[3] / "docs" / "pipelines.md"


def of_the_page() -> dict[str, str]:
    """The files of the page's example, by name."""
    text = PAGE.read_text(encoding="utf-8")
    return dict(re.findall(r"^`definitions/([\w.]+)`.*?^```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


class Project:
    """A pipeline in a folder, whose tables are in a database."""

    def __init__(self, folder: Path, database: str, configuration: Mapping[str, str] | None = None) -> None:
        self.folder, self.home = folder, Path(pyspark.__file__).parent
        (folder / "definitions").mkdir(parents=True)
        settings = "".join(f"  {name}: '{value}'\n" for name, value in (configuration or {}).items())
        (folder / "spark-pipeline.yml").write_text(
            f"name: project\nstorage: {folder.as_uri()}/storage\ndatabase: {database}\nlibraries:\n"
            '  - glob: {include: "definitions/**"}\n' + (f"configuration:\n{settings}" if settings else "")
        )

    def set_defaults(self, settings: Mapping[str, str]) -> None:
        """Settings of Spark in a file, which a server of its own reads."""
        (self.folder / "conf").mkdir()
        lines = (f"{name} {value}\n" for name, value in settings.items())
        (self.folder / "conf" / "spark-defaults.conf").write_text("".join(lines))

    def define(self, name: str, text: str) -> None:
        (self.folder / "definitions" / name).write_text(text, encoding="utf-8")

    def run(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """What `spark-pipelines` says, whether it fails or not."""
        environment = {
            **os.environ,
            "SPARK_HOME": str(self.home),
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONWARNINGS": "ignore",
            # a server of its own takes a free port
            "SPARK_TESTING": "1",
        }
        if (self.folder / "conf").exists():
            environment["SPARK_CONF_DIR"] = str(self.folder / "conf")
        small = ["--conf", "spark.driver.memory=1g", "--conf", "spark.log.level=ERROR"]
        program = str(self.home / "bin" / "spark-pipelines")
        return subprocess.run(
            [program, command, *arguments, *small],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=280,
        )

    def succeed(self, command: str, *arguments: str) -> None:
        done = self.run(command, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Run is COMPLETED" in done.stdout + done.stderr


def history(spark: Any, table: str) -> list[str]:
    """The operations on a table, the first one first."""
    rows = spark.sql(f"DESCRIBE HISTORY {table}").collect()
    return [row.operation for row in sorted(rows, key=lambda row: row.version)]


def rows(spark: Any, query: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in spark.sql(query).collect()), key=repr)
