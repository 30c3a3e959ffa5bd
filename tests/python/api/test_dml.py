"""Deletes and updates of rows, from Python and from the command line."""

import json

import pyarrow as pa
import pytest
from click.testing import CliRunner

import deltaic
from deltaic import exceptions
from deltaic.cli.main import main

VECTORS = {"delta.enableDeletionVectors": "true"}


@pytest.fixture(params=[{}, VECTORS], ids=["rewrite", "vectors"])
def root(tmp_path, request):
    root = tmp_path / "t"
    rows = {
        "id": [1, 2, 3, 4, 5, 6],
        "p": ["a", "a", "b", "b", None, "c"],
        "s": [{"x": i, "y": "t"} for i in range(5)] + [None],
    }
    deltaic.write(root, pa.table(rows), partition_by="p", configuration=request.param)
    return root


def ids(root):
    return sorted(pa.table(deltaic.Table(root).to_arrow())["id"].to_pylist())


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    if result.exception is not None and code:
        raise result.exception
    assert result.exit_code == code, result.output
    return result.stdout


class TestTable:
    def test_delete(self, root):
        table = deltaic.Table(root)
        done = table.delete("id IN (1, 3) OR s.x = 4", user_metadata="why")
        assert (done.version, done.deleted_rows) == (1, 3)
        assert table.version == 1
        assert ids(root) == [2, 4, 6]
        entry = table.history(1)[0]
        assert (entry["operation"], entry["userMetadata"]) == ("DELETE", "why")
        assert entry["operationMetrics"]["numDeletedRows"] == "3"
        # unknown is not true
        assert table.delete("p <> 'zz' AND id = NULL").version is None
        done = table.delete()
        assert (done.version, done.deleted_rows, done.copied_rows) == (2, 3, 0)
        assert ids(root) == []
        assert len(pa.table(deltaic.Table(root, version=0).to_arrow())) == 6

    def test_delete_by_partition_reads_nothing(self, root):
        for file in root.rglob("*.parquet"):
            if "_delta_log" not in file.parts:
                file.write_bytes(b"")
        done = deltaic.Table(root).delete("p = 'a' OR p IS NULL")
        assert (done.deleted_rows, done.removed_files) == (3, 2)

    def test_update(self, root):
        table = deltaic.Table(root)
        done = table.update_rows({"id": "id * 10", "s.y": "upper(p)", "p": "'moved'"}, "p = 'b'")
        assert (done.version, done.updated_rows) == (1, 2)
        found = pa.table(table.to_arrow(where="p = 'moved'")).sort_by("id").to_pylist()
        assert found == [
            {"id": 30, "p": "moved", "s": {"x": 2, "y": "B"}},
            {"id": 40, "p": "moved", "s": {"x": 3, "y": "B"}},
        ]
        assert table.update_rows({"id": "0"}, "id > 1000").version is None
        assert table.update_rows({"s": "NULL"}).updated_rows == 6

    def test_an_application_transaction_is_done_once(self, root):
        table = deltaic.Table(root)
        assert table.delete("id = 1", app_transaction=("app", 1)).version == 1
        assert table.delete("id = 2", app_transaction=("app", 1)).version is None
        assert table.update_rows({"id": "9"}, app_transaction=("app", 1)).version is None
        assert ids(root) == [2, 3, 4, 5, 6]

    def test_the_newest_version_is_changed(self, root):
        old = deltaic.Table(root)
        deltaic.write(root, pa.table({"id": [7], "p": ["a"]}))
        assert old.delete("id = 7").deleted_rows == 1
        assert old.version == 2

    @pytest.mark.parametrize(
        ("act", "error"),
        [
            (lambda t: t.delete("nope = 1"), exceptions.InvalidExpressionError),
            (lambda t: t.delete("id ="), exceptions.InvalidExpressionError),
            (lambda t: t.update_rows({}), exceptions.InvalidArgumentError),
            (lambda t: t.update_rows({"nope": "1"}), exceptions.InvalidArgumentError),
            (lambda t: t.update_rows({"id": "'x'"}), exceptions.InvalidExpressionError),
        ],
    )
    def test_refused(self, root, act, error):
        with pytest.raises(error):
            act(deltaic.Table(root))
        assert deltaic.Table(root).version == 0

    def test_rules(self, root):
        table = deltaic.Table(root)
        table.add_constraint("small", "id < 100")
        with pytest.raises(exceptions.InvariantViolationError, match="small"):
            table.update_rows({"id": "id + 97"})
        table.set_properties({"delta.appendOnly": "true"})
        for condition in ("id = 1", "id = -1"):
            with pytest.raises(exceptions.AppendOnlyError):
                table.delete(condition)
            with pytest.raises(exceptions.AppendOnlyError):
                table.update_rows({"id": "id"}, where=condition)


class TestCommandLine:
    def test_delete(self, root):
        assert run("delete", root, "--where", "id < 3") == "version 1: 2 rows deleted\n"
        assert run("delete", root, "--where", "id < 3") == "no row matches: nothing was committed\n"
        done = json.loads(run("delete", root, "--json", "--yes"))
        assert (done["version"], done["deleted_rows"]) == (2, 4)
        assert ids(root) == []

    def test_update(self, root):
        said = run("update", root, "--set", "id=id + 10", "--set", "s.y='z'", "--where", "p = 'a'")
        assert said == "version 1: 2 rows updated\n"
        assert ids(root) == [3, 4, 5, 6, 11, 12]
        done = json.loads(run("update", root, "--set", "id=0", "--where", "id = 99", "--json"))
        assert (done["version"], done["updated_rows"]) == (None, 0)
        with pytest.raises(exceptions.InvalidExpressionError):
            run("update", root, "--set", "id=nope(1)", code=1)
