"""The stub is the module, and the types are those that users see."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stub_says_what_the_extension_has():
    run("mypy.stubtest", "deltaic._core")


def test_users_see_the_right_types(tmp_path):
    run("mypy", "--strict", "--cache-dir", str(tmp_path), "tests/python/typing/usage.py")
