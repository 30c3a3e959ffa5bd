"""What goes wrong after the commit point is a warning of the result and of Python, and the commit stands."""

import subprocess
import sys
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic.exceptions import DeltaWarning

ROWS = pa.table({"id": pa.array([1], pa.int64())})


@pytest.fixture
def root(tmp_path):
    """A table whose next checkpoint, that of version 2, finds a folder in its place."""
    root = tmp_path / "t"
    deltaic.write(root, ROWS, configuration={"delta.checkpointInterval": "2"})
    deltaic.write(root, ROWS)
    (root / "_delta_log" / f"{2:020}.checkpoint.parquet" / "x").mkdir(parents=True)
    return root


def test_a_write_tells_of_its_checkpoint(root):
    with pytest.warns(DeltaWarning, match="the checkpoint of version 2 was not written") as warned:
        done = deltaic.write(root, ROWS)
    assert (done.version, done.skipped) == (2, False)
    assert done.warnings == [str(w.message) for w in warned]
    assert warned[0].filename == __file__
    assert deltaic.Table(root).version == 2


def test_a_change_of_properties_tells_too(root):
    with pytest.warns(DeltaWarning, match="checkpoint of version 2"):
        assert deltaic.Table(root).set_properties({"owner": "me"}) == 2


def test_a_restore_tells_too(root):
    with pytest.warns(DeltaWarning, match="checkpoint of version 2"):
        done = deltaic.Table(root).restore(0)
    assert (done.version, len(done.warnings)) == (2, 1)


OPERATIONS = {
    "delete": lambda table: table.delete("id = 1"),
    "update_rows": lambda table: table.update_rows({"id": "2"}),
    "optimize": lambda table: table.optimize(),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_changes_files_tells_too(root, operation):
    with pytest.warns(DeltaWarning, match="checkpoint of version 2") as warned:
        done = OPERATIONS[operation](deltaic.Table(root))
    assert done.version == 2
    assert done.warnings == [str(w.message) for w in warned]


def test_what_makes_tables_tells_too(root, tmp_path):
    folder, clone = tmp_path / "folder", tmp_path / "clone"
    for place in (folder, clone):
        place.mkdir()
        (place / "_symlink_format_manifest").write_text("a file, where manifests want a folder")
    manifests = {"delta.compatibility.symlinkFormatManifest.enabled": "true"}
    pq.write_table(ROWS, folder / "f.parquet")
    with pytest.warns(DeltaWarning, match="the symlink manifest of version 0 was not written"):
        converted = deltaic.convert(folder, configuration=manifests)
    with pytest.warns(DeltaWarning, match="the symlink manifest of version 0 was not written"):
        # a clone that replaces nothing takes a place with files
        cloned = deltaic.Table(root).shallow_clone(str(clone), replace=True, properties=manifests)
    assert [len(done.warnings) for done in (converted, cloned)] == [1, 1]


@pytest.mark.filterwarnings("error", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_filter_that_makes_it_an_error_does_not_make_the_commit_undone(root):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeltaWarning)
        assert deltaic.write(root, ROWS).version == 2


def test_nothing_went_wrong(tmp_path):
    assert deltaic.write(tmp_path / "t", ROWS).warnings == []


def test_the_command_line_says_it_on_standard_error(root):
    command = [sys.executable, "-m", "deltaic", "alter", "set-properties", str(root), "owner=me", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "version" in done.stdout) == (0, True)
    assert done.stderr.startswith("deltaic: the checkpoint of version 2 was not written")
    assert len(done.stderr.splitlines()) == 1
