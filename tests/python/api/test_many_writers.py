"""T9: many processes append to one table at once, and every append is there, once."""

import subprocess
import sys

import pyarrow

import deltaic

WRITERS = 20
APPENDS = 100

APPEND = """
import sys

import pyarrow

import deltaic

path, writer, appends = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for n in range(appends):
    deltaic.write(path, pyarrow.table({"id": [writer * appends + n]}))
"""


def test_t9_appends_of_many_processes_all_land_once(tmp_path):
    path = str(tmp_path / "table")
    # the table is made by one of them: they race for that, too
    command = [sys.executable, "-c", APPEND, path]
    writers = [subprocess.Popen([*command, str(n), str(APPENDS)]) for n in range(WRITERS)]
    assert [writer.wait() for writer in writers] == [0] * WRITERS
    table = deltaic.Table(path)
    assert table.version == WRITERS * APPENDS - 1
    assert table.totals().files == WRITERS * APPENDS
    ids = pyarrow.table(table.to_arrow())["id"].to_pylist()
    assert sorted(ids) == list(range(WRITERS * APPENDS))
    assert len([f for f in (tmp_path / "table").iterdir() if f.suffix == ".parquet"]) == WRITERS * APPENDS
