"""Vacuum, restore and fsck, from Python and from the command line."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import deltaic
from deltaic import exceptions
from deltaic.cli.main import main


@pytest.fixture
def root(tmp_path):
    """Two versions; all files of the first have left."""
    root = tmp_path / "t"
    deltaic.write(root, pa.table({"id": [1, 2]}))
    deltaic.write(root, pa.table({"id": [3]}), mode="overwrite")
    return root


def ids(root):
    return sorted(pa.table(deltaic.Table(root).to_arrow())["id"].to_pylist())


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result.stdout


class TestTable:
    def test_vacuum(self, root):
        table = deltaic.Table(root)
        with pytest.raises(exceptions.InvalidArgumentError, match="retention"):
            table.vacuum(0)
        assert table.vacuum().files == []
        dry = table.vacuum(0, dry_run=True, allow_short_retention=True)
        done = table.vacuum(0, allow_short_retention=True)
        assert dry.files == done.files
        assert len(done.files) == 1
        assert not any(Path(file).exists() for file in done.files)
        assert table.version == done.version
        assert ids(root) == [3]

    @pytest.mark.parametrize("hours", [float("nan"), float("inf"), -float("inf"), 1e300])
    def test_a_vacuum_of_no_number_of_hours_is_refused(self, root, hours):
        with pytest.raises(exceptions.InvalidArgumentError, match="retention_hours"):
            deltaic.Table(root).vacuum(hours)

    def test_vacuum_by_an_inventory(self, root, tmp_path):
        table = deltaic.Table(root)
        live = set(pa.table(table.files())["path"].to_pylist())
        (old,) = (file.name for file in Path(root).glob("*.parquet") if file.name not in live)
        deltaic.write(Path(root) / "inner", pa.table({"id": [1]}))
        (inner,) = (f"inner/{file.name}" for file in (Path(root) / "inner").glob("*.parquet"))
        (tmp_path / "outside.parquet").write_bytes(b"x")
        (Path(root) / "young.parquet").write_bytes(b"x")
        named = [
            *live,
            "nowhere.parquet",
            inner,
            "../outside.parquet",
            "./young.parquet",
            "_delta_log/0.json",
            "",
        ]
        inventory = [(old, 0), ("young.parquet", 1 << 60), *((name, 0) for name in named)]
        assert table.vacuum(inventory=inventory).files == [], "the store says that they are young"
        assert table.vacuum(0, inventory=[], allow_short_retention=True).files == []
        with pytest.raises(exceptions.InvalidArgumentError, match="lite"):
            table.vacuum(mode="lite", inventory=inventory)
        done = table.vacuum(0, inventory=inventory, allow_short_retention=True)
        assert [Path(file).name for file in done.files] == [old]
        assert ids(root) == [3]
        assert ids(Path(root) / "inner") == [1]

    def test_restore(self, root):
        table = deltaic.Table(root)
        done = table.restore(0)
        assert (done.version, done.restored_version, done.restored_files, done.removed_files) == (2, 0, 1, 1)
        assert table.version == 2
        assert ids(root) == [1, 2]
        table.restore(timestamp=deltaic.Table(root, version=1).timestamp)
        assert ids(root) == [3]
        done = table.restore(3)
        assert (done.version, done.restored_version, done.files) == (3, 3, table.totals().files)
        assert deltaic.Table(root).version == 3

    @pytest.mark.parametrize("when", [{}, {"version": 0, "timestamp": "2026-01-01"}, {"version": -1}])
    def test_restore_to_nowhere(self, root, when):
        with pytest.raises(exceptions.InvalidTimeTravelError):
            deltaic.Table(root).restore(**when)

    def test_fsck(self, root):
        table = deltaic.Table(root)
        assert table.fsck().missing == []
        for file in table.file_list():
            (root / file["path"]).unlink()
        assert len(table.fsck(dry_run=True).missing) == 1
        assert table.fsck().version == table.version == 2
        assert ids(root) == []

    def test_generate_manifest(self, root):
        done = deltaic.Table(root).generate_manifest()
        assert (done.version, done.written, done.deleted) == (1, 1, 0)
        (file,) = deltaic.Table(root).file_list()
        lines = (root / "_symlink_format_manifest" / "manifest").read_text().splitlines()
        assert lines == [f"file:{root}/{file['path']}"]

    def test_shallow_clone(self, root, tmp_path):
        done = deltaic.Table(root, version=0).shallow_clone(tmp_path / "c", properties={"mine": "1"})
        assert (done.version, done.source_version, done.files) == (0, 0, 1)
        assert deltaic.Table(done.uri).properties == {"mine": "1"}
        assert ids(tmp_path / "c") == [1, 2]
        deltaic.Table(tmp_path / "c").vacuum(0, allow_short_retention=True)
        assert ids(tmp_path / "c") == [1, 2]
        with pytest.raises(exceptions.TableAlreadyExistsError):
            deltaic.Table(root).shallow_clone(tmp_path / "c")


class TestCommands:
    def test_vacuum(self, root):
        short = ("--retention-hours", 0, "--allow-short-retention", "--json")
        dry = json.loads(run("vacuum", root, *short, "--dry-run"))
        done = json.loads(run("vacuum", root, *short, "--yes"))
        assert dry["files"] == done["files"] != []
        assert "0 files deleted" in run("vacuum", root)

    def test_restore(self, root):
        assert "version 2 is version 0 again" in run("restore", f"{root}@v0")
        assert ids(root) == [1, 2]
        refused = CliRunner().invoke(main, ["restore", f"{root}@v2"])
        assert refused.exit_code == 2
        assert "version 2 is the newest one" in refused.output

    def test_fsck(self, root):
        for file in deltaic.Table(root).file_list():
            (root / file["path"]).unlink()
        assert "1 file missing" in run("fsck", root, "--dry-run", code=1)
        assert json.loads(run("fsck", root, "--yes", "--json"))["version"] == 2
        assert "0 files missing" in run("fsck", root)

    def test_manifest(self, root):
        assert "manifests of version 1: 1 written" in run("manifest", root)
        assert json.loads(run("manifest", root, "--json"))["written"] == 1

    def test_clone(self, root, tmp_path):
        assert "is version 0 of" in run("clone", f"{root}@v0", tmp_path / "c")
        assert ids(tmp_path / "c") == [1, 2]
        done = json.loads(run("clone", root, tmp_path / "d", "--property", "mine=1", "--json"))
        assert (done["source_version"], done["files"]) == (1, 1)
