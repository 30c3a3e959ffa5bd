"""The README's code and its picture are what they show, and the tour runs as it stands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# the Java of the extra `spark`, where there is no other
JAVA = "from deltaic.spark.java import ensure_java\nensure_java()\n"


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=280,
    )
    assert done.returncode == 0, done.stderr or done.stdout
    return done.stdout


def test_the_code_of_the_readme_runs(tmp_path: Path) -> None:
    (code,) = blocks("README.md", "python")
    assert len([line for line in code.splitlines() if line and not line.startswith("import")]) == 5
    printed = run(tmp_path, "-c", code)
    assert "|Rome|12.5|" in printed
    assert "|Oslo| 6.0|" in printed


def test_the_tour_runs(tmp_path: Path) -> None:
    code = blocks("docs/tour.md", "python")
    assert len(code) == 2
    assert "version 7 of" in run(tmp_path, "-c", JAVA + "\n".join(code))
    lines = [line for block in blocks("docs/tour.md", "sh") for line in block.splitlines()]
    assert len(lines) == 6
    for line in lines:
        python, *arguments = shlex.split(line)
        assert python == "python"
        assert run(tmp_path, *arguments).strip(), line


# pseudo terminals are what Unix has
if sys.platform != "win32":

    def test_the_picture_is_what_the_commands_print() -> None:
        run(ROOT, ".ci/terminal_picture.py", "--check")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"])
def test_what_a_page_of_the_root_links_to_is_there(page: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / page).read_text(encoding="utf-8")):
        assert (ROOT / target).exists(), target
