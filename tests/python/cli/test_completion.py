"""What shells are told when a user asks them to complete a word, by the scripts that `deltaic completion` prints."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from command_line import process

if TYPE_CHECKING:
    from pathlib import Path


def asked(shell: str, words: str, at: int) -> list[str]:
    """What the program answers to the script of a shell."""
    last = words.split(" ")[at] if shell == "fish" else str(at)
    environment = {
        **os.environ, "_DELTAIC_COMPLETE": f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": last,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", "from deltaic.cli.main import run; run()"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_and_answers(shell: str) -> None:
    script = process("completion", shell)
    assert script.returncode == 0
    assert "_DELTAIC_COMPLETE" in script.stdout
    assert any("history" in line for line in asked(shell, "deltaic his", 1))
    assert any("--where" in line for line in asked(shell, "deltaic files orders --wh", 3))
    assert any("dropped" in line for line in asked(shell, "deltaic explain orders --only d", 4))
    assert any("rename-column" in line for line in asked(shell, "deltaic alter ren", 2))


def test_another_shell_is_refused() -> None:
    assert process("completion", "cmd").returncode == 2


def test_bash_completes(tmp_path: Path) -> None:
    """The script is loaded into a real bash, and its function is called as the shell calls it."""
    program = tmp_path / "deltaic"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m deltaic \"$@\"\n")
    program.chmod(0o755)
    ask = """
eval "$(deltaic completion bash)"
complete -p deltaic
COMP_WORDS=(deltaic opt) COMP_CWORD=1 COMPREPLY=()
_deltaic_completion deltaic
echo "${COMPREPLY[@]}"
"""
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", ask], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "optimize"
    assert "-F _deltaic_completion" in done.stdout
