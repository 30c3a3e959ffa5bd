"""The README's tour runs as it stands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[3] / "README.md"


def blocks(language: str) -> list[str]:
    tour = README.read_text(encoding="utf-8").partition("\n## A tour\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", tour, re.MULTILINE | re.DOTALL)


def test_the_tour_runs(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=280,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    # the Java of the extra `spark`, where there is no other
    prepare = "from deltaic.spark.java import ensure_java\nensure_java()\n"
    code = blocks("python")
    assert len(code) == 2
    assert "version 7 of" in run("-c", prepare + "\n".join(code))
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) == 6
    for line in lines:
        python, *arguments = shlex.split(line)
        assert python == "python"
        assert run(*arguments).strip(), line
