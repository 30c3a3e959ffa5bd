"""Metadata of other formats, which deltaic does not write, is not left behind in silence."""

import pyarrow as pa
import pytest

import deltaic
from deltaic.exceptions import DeltaWarning, UnsupportedError

PROPERTY = "delta.universalFormat.enabledFormats"
ALLOW = {"allow_stale_universal_format": "true"}
ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64())})


@pytest.fixture
def root(tmp_path):
    """A table that says that Iceberg reads it, too."""
    root = tmp_path / "t"
    deltaic.write(root, ROWS)
    deltaic.write(root, ROWS)
    with pytest.warns(DeltaWarning, match="`iceberg`"):
        deltaic.Table(root, storage_options=ALLOW).set_properties({PROPERTY: "iceberg"}, allow_arbitrary=True)
    return root


OPERATIONS = {
    "append": lambda root, table: deltaic.write(root, ROWS),
    "overwrite": lambda root, table: deltaic.write(root, ROWS, mode="overwrite"),
    "delete": lambda root, table: table.delete("id = 1"),
    "update": lambda root, table: table.update_rows({"id": "4"}),
    "optimize": lambda root, table: table.optimize(),
    "restore": lambda root, table: table.restore(1),
    "property": lambda root, table: table.set_properties({"owner": "me"}),
    "constraint": lambda root, table: table.add_constraint("c", "id > 0"),
    "clone": lambda root, table: table.shallow_clone(str(root / "clone")),
}


@pytest.mark.parametrize("operation", sorted(OPERATIONS.keys() - {"restore"}))
def test_no_commit_leaves_it_behind(root, operation):
    with pytest.raises(UnsupportedError, match=PROPERTY) as raised:
        OPERATIONS[operation](root, deltaic.Table(root))
    assert "allow_stale_universal_format" in str(raised.value)
    assert "spark.deltaic.universalFormat.allowStale" in str(raised.value)
    assert deltaic.Table(root).version == 2
    assert len(list(root.glob("**/part-*.parquet"))) == 2


def test_a_restore_to_where_it_was_not_there_takes_it_away(root):
    assert deltaic.Table(root).restore(1).warnings == []
    assert deltaic.write(root, ROWS).version == 4


def test_what_is_allowed_is_reported(root):
    with pytest.warns(DeltaWarning, match="readers stay at an older version") as warned:
        done = deltaic.write(root, ROWS, storage_options=ALLOW)
    assert (done.version, done.warnings) == (3, [str(w.message) for w in warned])
    with pytest.warns(DeltaWarning, match=f"version 4 is committed.*`{PROPERTY}` is `iceberg`"):
        assert deltaic.Table(root, storage_options=ALLOW).optimize().version == 4


def test_reads_and_vacuums_go_on(root):
    assert pa.table(deltaic.Table(root).to_arrow()).num_rows == 6
    assert deltaic.Table(root).vacuum().warnings == []


def test_without_the_property_it_is_a_table_like_others(root):
    deltaic.Table(root).unset_properties([PROPERTY])
    assert deltaic.write(root, ROWS).warnings == []


def test_a_new_table_cannot_have_it(tmp_path):
    with pytest.raises(deltaic.exceptions.InvalidArgumentError, match="not a property"):
        deltaic.write(tmp_path / "t", ROWS, configuration={PROPERTY: "iceberg"})
