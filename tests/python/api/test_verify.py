"""`deltaic.verify`: a whole table has no finding, and what is wrong is said in fields."""

import json
import pickle

import pyarrow
import pytest

import deltaic


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "table"
    for n in range(3):
        deltaic.write(path, pyarrow.table({"id": [n, n + 1]}))
    deltaic.Table(path).checkpoint()
    return path


@pytest.mark.parametrize("deep", [False, True])
def test_a_whole_table_has_no_finding(path, deep):
    report = deltaic.Table(path).verify(deep=deep)
    assert report.ok
    assert (report.version, report.first_version, report.commits, report.files) == (2, 0, 3, 3)
    assert (report.checkpoints, report.checksums) == (1, 3)
    assert report == deltaic.verify(path, deep=deep)
    assert deltaic.verify(path, version=1).files == 2


def test_findings_are_facts(path):
    lost = min(path.glob("*.parquet"))
    lost.unlink()
    (finding,) = deltaic.verify(str(path)).findings
    assert isinstance(finding, deltaic.Finding)
    assert (finding.kind, finding.version, finding.path) == ("MissingFile", 2, str(lost))
    assert "fsck" in finding.advice
    assert str(lost) in str(finding)


def test_a_verified_table_is_one_that_nothing_contradicts(path):
    log = path / "_delta_log"
    assert deltaic.Table(path, verify=True).version == 2
    # of a version that the checkpoint after it tells
    first, second = (log / f"{version:020}.json" for version in (0, 1))
    second.write_bytes(first.read_bytes())
    assert deltaic.Table(path, version=1).version == 1
    for version in (1, None):
        with pytest.raises(
            deltaic.exceptions.LogCorruptError, match=r"\(and \d+ more, which `verify` lists\)"
        ):
            deltaic.Table(path, version=version, verify=True)


def test_a_level_says_what_a_table_is_compared_with(path):
    def count(**given):
        return pyarrow.table(deltaic.Table(path, **given).to_arrow()).num_rows

    levels = ("fast", "checked", "full", False, True)
    assert [count(verify=level) for level in levels] == [6] * 5 == [count()] * 5
    commit = path / "_delta_log" / "00000000000000000002.json"
    for name in ("*.checkpoint.*", "_last_checkpoint"):
        for file in (path / "_delta_log").glob(name):
            file.unlink()
    # without its last line, which is the file
    commit.write_text("".join(commit.read_text().splitlines(keepends=True)[:-1]))
    assert [count(verify=level) for level in ("fast", False)] == [4, 4]
    corrupt = deltaic.exceptions.LogCorruptError
    for given in ({}, {"verify": "checked"}):
        assert count(version=1, **given) == 4
        with pytest.raises(corrupt, match="the commit is not the one that was written") as raised:
            count(**given)
        assert (raised.value.version, raised.value.path) == (2, str(commit))
    for level in ("full", True):
        with pytest.raises(corrupt, match="ChecksumDiffers"):
            count(version=1, verify=level)
    with pytest.raises(deltaic.exceptions.InvalidArgumentError, match="none of `fast`"):
        deltaic.Table(path, verify="some")


def test_a_table_that_moves_on_keeps_its_level(path):
    tables = {level: deltaic.Table(path, verify=level) for level in ("fast", "checked", "full")}
    tables["fast"] = pickle.loads(pickle.dumps(tables["fast"]))
    log = path / "_delta_log"
    log.joinpath("00000000000000000001.crc").write_text("{}")
    assert [table.update().version for table in tables.values()] == [2, 2, 2]
    deltaic.write(path, pyarrow.table({"id": [7]}))
    for level in ("fast", "checked"):
        tables[level].update()
        assert tables[level].version == 3
    with pytest.raises(deltaic.exceptions.LogCorruptError, match="UnreadableChecksum"):
        tables["full"].update()
    commit = log / "00000000000000000003.json"
    commit.write_text("".join(commit.read_text().splitlines(keepends=True)[:-1]))
    # what was opened before lists again
    assert pyarrow.table(pickle.loads(pickle.dumps(tables["fast"])).to_arrow()).num_rows == 6
    with pytest.raises(deltaic.exceptions.LogCorruptError):
        pyarrow.table(pickle.loads(pickle.dumps(tables["checked"])).to_arrow())


def test_a_table_that_cannot_be_opened_can_be_verified(path):
    log = path / "_delta_log"
    log.joinpath("00000000000000000002.json").write_text("{")
    for checkpoint in log.glob("*.checkpoint.*"):
        checkpoint.unlink()
    log.joinpath("_last_checkpoint").unlink(missing_ok=True)
    with pytest.raises(deltaic.exceptions.LogCorruptError):
        pyarrow.table(deltaic.Table(path).to_arrow())
    (finding,) = deltaic.verify(path).findings
    assert (finding.kind, finding.version) == ("UnreadableCommit", 2)


def test_damage_of_values_is_found_in_depth(path):
    commit = path / "_delta_log" / "00000000000000000002.json"
    lines = [json.loads(line) for line in commit.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            stats = json.loads(line["add"]["stats"])
            stats["maxValues"]["id"] = 2
            line["add"]["stats"] = json.dumps(stats)
    commit.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for name in ("*.checkpoint.*", "_last_checkpoint"):
        for file in (path / "_delta_log").glob(name):
            file.unlink()
    assert deltaic.verify(path).ok
    (finding,) = deltaic.verify(path, deep=True).findings
    assert finding.kind == "StatsNotBounds"


def test_what_is_no_table_is_an_error(tmp_path):
    with pytest.raises(deltaic.exceptions.TableNotFoundError):
        deltaic.verify(tmp_path)
    with pytest.raises(deltaic.exceptions.InvalidArgumentError):
        deltaic.verify(tmp_path, version=-1)
