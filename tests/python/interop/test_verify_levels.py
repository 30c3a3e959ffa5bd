"""What a log says twice: where delta-spark has the right rows the default level reads them, too, whatever a checksum
says, and where delta-spark has other rows than were committed, it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from deltaic import exceptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _crc(log: Path, version: int) -> Path:
    return log / f"{version:020}.crc"


def _commit(log: Path, version: int) -> Path:
    return log / f"{version:020}.json"


def _change(file: Path, **changes: Any) -> None:
    """Changes a checksum, and takes out what repeats its sums."""
    said = json.loads(file.read_text())
    said.pop("fileSizeHistogram", None)
    file.write_text(json.dumps({**said, **changes}))


def _more(file: Path, files: int, size: int) -> None:
    said = json.loads(file.read_text())
    _change(file, numFiles=said["numFiles"] + files, tableSizeBytes=said["tableSizeBytes"] + size)


def _lone(log: Path) -> None:
    for version in range(3):
        _crc(log, version).unlink()
    _more(_crc(log, 3), 10, 5259)


def _counted_in_another_way(log: Path) -> None:
    for version in range(4):
        _more(_crc(log, version), 0, 7)


def _appended_twice(log: Path) -> None:
    """The second time by a writer that did not hear of the first, and that counts what it adds."""
    _commit(log, 4).write_text(_commit(log, 3).read_text())
    _crc(log, 4).write_text(_crc(log, 3).read_text())
    adds = [json.loads(line).get("add") for line in _commit(log, 4).read_text().splitlines()]
    sizes = [add["size"] for add in adds if add]
    _more(_crc(log, 4), len(sizes), sum(sizes))


def _of_old_writers(log: Path) -> None:
    for version in range(4):
        said = json.loads(_crc(log, version).read_text())
        kept = ("tableSizeBytes", "numFiles", "numMetadata", "numProtocol")
        _crc(log, version).write_text(json.dumps({name: said[name] for name in kept}))


def _of_another_transaction(log: Path) -> None:
    _change(_crc(log, 3), txnId="another")


READ = [_lone, _counted_in_another_way, _appended_twice, _of_old_writers, _of_another_transaction]


def _without_the_last_line(log: Path) -> None:
    _commit(log, 3).write_text("".join(_commit(log, 3).read_text().splitlines(keepends=True)[:-1]))


def _without_a_file_before(log: Path) -> None:
    _commit(log, 1).write_text("".join(_commit(log, 1).read_text().splitlines(keepends=True)[:-1]))


def _in_the_place_of_the_next(log: Path) -> None:
    """An update in the place of an append, where there is no checksum."""
    for file in log.glob("*.crc"):
        file.unlink()
    _commit(log, 3).write_text(_commit(log, 2).read_text())


REFUSED = [_without_the_last_line, _without_a_file_before, _in_the_place_of_the_next]


def _table(path: Path, damage: Callable[[Path], None]) -> pa.Table:
    """Three appends with an update between, damaged; the rows that were committed."""
    for first in (0, 10):
        deltaic.write(path, pa.table({"id": list(range(first, first + 10)), "n": [0] * 10}))
    deltaic.Table(path).update_rows({"n": "1"}, where="id = 3")
    deltaic.write(path, pa.table({"id": [20, 21], "n": [0, 0]}))
    rows = pa.table(deltaic.Table(path).to_arrow())
    damage(path / "_delta_log")
    return rows


@pytest.mark.parametrize("damage", READ)
def test_what_delta_spark_reads_right_is_read(
    delta_spark: Any, same: Any, damage: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "t"
    rows = _table(path, damage)
    same(delta_spark.read(path), rows)
    same(deltaic.Table(path).to_arrow(), rows)


@pytest.mark.parametrize("damage", REFUSED)
def test_what_delta_spark_reads_wrong_is_refused(
    delta_spark: Any, same: Any, damage: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "t"
    rows = _table(path, damage)
    found = delta_spark.read(path)
    assert same.rows(found) != same.rows(rows)
    same(deltaic.Table(path, verify="fast").to_arrow(), found)
    with pytest.raises(exceptions.LogCorruptError, match="accepts the log as it is"):
        pa.table(deltaic.Table(path).to_arrow())
