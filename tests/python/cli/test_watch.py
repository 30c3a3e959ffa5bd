"""`watch`: every commit once, in order, as it comes."""

import json
import signal
import subprocess
import sys

import pyarrow as pa
import pytest
from command_line import output

import deltaic

ONE = pa.table({"id": [1]})


@pytest.fixture
def root(tmp_path):
    deltaic.write(tmp_path / "t", ONE)
    return tmp_path / "t"


def start(root, *options):
    command = [sys.executable, "-m", "deltaic", "watch", str(root), "--interval", "0.05", *options]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def test_commits_of_others_while_it_runs(root):
    """The first line comes before the next commit is made: nothing waits for a buffer to fill."""
    child = start(root, "--from", "0", "--until", "3", "--json")
    seen = [json.loads(child.stdout.readline())["version"]]
    for _ in range(3):
        deltaic.write(root, ONE, mode="append")
        seen.append(json.loads(child.stdout.readline())["version"])
    _, stderr = child.communicate(timeout=60)
    assert (seen, child.returncode, stderr) == ([0, 1, 2, 3], 0, "")


def test_a_line_for_people(root):
    deltaic.write(root, pa.table({"id": [2]}), mode="overwrite")
    deltaic.Table(root).set_properties({"delta.appendOnly": "false"})
    first, second, third = output("watch", root, "--from", "0", "--until", "2").splitlines()
    assert "WRITE  +1 file" in first
    assert "protocol" in first
    assert "-1 file" in second
    assert "UTC  SET TBLPROPERTIES  metadata" in third


def test_versions_that_cleanup_removed_are_named(root):
    for _ in range(3):
        deltaic.write(root, ONE, mode="append")
    deltaic.Table(root).checkpoint()
    for version in (0, 1):
        (root / "_delta_log" / f"{version:020}.json").unlink()
    child = start(root, "--from", "0", "--until", "3", "--json")
    stdout, stderr = child.communicate(timeout=60)
    assert [json.loads(line)["version"] for line in stdout.splitlines()] == [2, 3]
    assert stderr.strip() == "deltaic: versions 0 to 1 are not in the log any more"


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_it(root):
    child = start(root, "--from", "0")
    child.stdout.readline()
    child.send_signal(signal.SIGINT)
    _, stderr = child.communicate(timeout=60)
    assert (child.returncode, stderr.strip()) == (130, "deltaic: interrupted")
