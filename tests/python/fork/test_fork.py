"""Forked children, before and after the parent has used the core: threads do not survive a fork."""

import multiprocessing
import os
import subprocess
import sys

import pyarrow as pa
import pytest

import deltaic


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("fork") / "t"
    for i in range(4):
        deltaic.write(
            root, pa.table({"id": list(range(i * 10, i * 10 + 10)), "p": [i] * 10}), partition_by="p"
        )
    return root


def use(root):
    """Everything that takes threads: replay, listing with pruning, rows, history, update."""
    table = deltaic.Table(root, version=1)
    table.update()
    files = pa.table(table.files("p >= 2 AND id > 0", stats=True)).num_rows
    return files, pa.table(table.to_arrow(where="id >= 5")).num_rows, len(table.history())


EXPECTED = (2, 35, 4)

IN_A_CHILD = """
import os, sys
import pyarrow as pa
import deltaic

def use(root):
    table = deltaic.Table(root)
    return pa.table(table.files("p >= 2")).num_rows, pa.table(table.to_arrow(where="id >= 5")).num_rows

root, used = sys.argv[1], sys.argv[2] == "after"
if used:
    assert use(root) == (2, 35)
child = os.fork()
if child == 0:
    os._exit(0 if use(root) == (2, 35) else 1)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
assert use(root) == (2, 35)
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_t38_a_forked_child_reads(root, when):
    """In a fresh process, so that nothing of this test run has started a thread."""
    command = [sys.executable, "-c", IN_A_CHILD, str(root), when]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_a_table_opened_in_the_parent_is_read_by_the_child(root):
    table = deltaic.Table(root)
    assert pa.table(table.files()).num_rows == 4
    child = os.fork()
    if child == 0:
        os._exit(0 if pa.table(table.to_arrow(["id"])).num_rows == 40 else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_multiprocessing_by_fork(root):
    assert use(root) == EXPECTED
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(use, [root] * 4, chunksize=1) == [EXPECTED] * 4


def test_multiprocessing_by_spawn(root):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(len, ([1],)) == 1
        assert pool.apply(_version, (deltaic.Table(root),)) == 3


def _version(table):
    return table.version


def test_a_child_writes(root, tmp_path):
    target = tmp_path / "t"
    deltaic.write(target, pa.table({"id": [1]}))
    child = os.fork()
    if child == 0:
        os._exit(0 if deltaic.write(target, pa.table({"id": [2]})).version == 1 else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert deltaic.Table(target).version == 1
