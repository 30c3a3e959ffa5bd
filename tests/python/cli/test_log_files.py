"""`checkpoint`, `compact-log` and `clean-log`."""

import os
import time

import pyarrow as pa
import pytest
from command_line import document, output, process

import deltaic


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "t"
    for i in range(4):
        deltaic.write(root, pa.table({"id": [i]}))
    return root


def test_a_checkpoint_is_written_once(root):
    done = document("checkpoint", root)
    assert (done["version"], done["files"], done["existed"]) == (3, 4, False)
    assert (root / "_delta_log" / done["name"]).exists()
    assert output("checkpoint", root) == f"{done['name']} exists already\n"
    assert document("checkpoint", f"{root}@v1")["version"] == 1


def test_commits_in_one_file(root):
    done = document("compact-log", root, "--start", 1)
    assert (done["start"], done["end"], done["actions"]) == (1, 3, 3)
    assert (root / "_delta_log" / done["name"]).exists()
    assert process("compact-log", root, "--start", 3).returncode == 2
    assert process("compact-log", root).returncode == 2


def test_expired_log_files_are_deleted_after_a_dry_run(root):
    output("checkpoint", f"{root}@v3")
    assert document("clean-log", root, "--dry-run") == {"format": 1, "deleted": [], "failed": []}
    log = root / "_delta_log"
    old = time.time() - 60 * 86_400
    for file in log.glob("0*"):
        when = old + int(file.name[:20])
        os.utime(file, (when, when))
    shown = output("clean-log", root, "--dry-run")
    assert shown.splitlines()[-1].endswith("files would be deleted")
    assert (log / f"{0:020}.json").exists()
    deleted = document("clean-log", root, "--yes")["deleted"]
    assert f"{0:020}.json" in deleted
    assert not (log / f"{0:020}.json").exists()
    assert deltaic.Table(root).version == 3
