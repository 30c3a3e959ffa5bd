"""The same steps by `deltaic` and by `deltalake` leave the same rows and files, and each reads the other's."""

from __future__ import annotations

import datetime as dt
import decimal
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from deltalake_engines import Ours, Theirs, adds, rows

import deltaic

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(params=[Ours, Theirs], ids=["deltaic", "deltalake"])
def engine(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_names_keep_their_case_where_rows_are_replaced(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    names = ["utcDate", "homeTeam", "score"]
    engine.write(path, pa.table([["d1", "d2", "d3"], ["a", "b", "c"], ["0-1", "0-1", "2-2"]], names))
    engine.replace(path, pa.table([["d9"], ["z"], ["0-1"]], names), "score = '0-1'")
    assert pa.schema(deltaic.Table(path).schema).names == names
    found = [(r["homeTeam"], r["score"]) for r in rows(path)]
    assert sorted(found) == [("c", "2-2"), ("z", "0-1")]


def test_a_dot_in_the_name_of_a_partition_column(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    names = ["Product.Id", "Cost"]
    engine.write(path, pa.table([["x-1", "x-2", "x-3", "x-4"], [10, 11, 12, 13]], names), ["Product.Id"])
    engine.replace(path, pa.table([["x-1"], [99]], names), "`Product.Id` = 'x-1'")
    assert sorted((r["Product.Id"], r["Cost"]) for r in rows(path)) == [
        ("x-1", 99),
        ("x-2", 11),
        ("x-3", 12),
        ("x-4", 13),
    ]


def test_a_time_as_partition_beside_a_condition_on_data(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    at = [dt.datetime(2026, 1, n, 3, 4, 5, tzinfo=dt.timezone.utc) for n in (1, 2)]
    kind = pa.timestamp("us", "UTC")
    engine.write(path, pa.table({"at": pa.array(at, kind), "value": [1, 20]}), ["at"])
    engine.replace(path, pa.table({"at": pa.array(at[1:], kind), "value": [30]}), "value >= 10")
    assert [(r["at"], r["value"]) for r in rows(path)] == [(at[0], 1), (at[1], 30)]
    assert "%2525" not in " ".join(add["path"] for add in adds(path))


@pytest.mark.parametrize("zorder", [None, ["id"]], ids=["compacted", "ordered"])
def test_a_nested_field_has_the_name_of_a_partition_column(
    engine: Any, zorder: list[str] | None, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    for n in range(2):
        data = pa.table({"id": [n], "date": ["d1"], "properties": [{"date": f"inside {n}", "x": n}]})
        engine.write(path, data, ["date"])
    before = rows(path)
    engine.optimize(path, zorder=zorder)
    assert rows(path) == before
    assert deltaic.Table(path).totals().files == 1


def test_one_of_two_partition_columns_is_compacted(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    parts = [(a, b) for a in "xy" for b in "12"]
    for n in range(2):
        data = pa.table({"a": [a for a, _ in parts], "b": [b for _, b in parts], "n": [n] * 4})
        engine.write(path, data, ["a", "b"])
    before = rows(path)
    engine.optimize(path, "b", "1")
    new = sorted((add["partitionValues"]["a"], add["partitionValues"]["b"]) for add in adds(path))
    assert new == [("x", "1"), ("y", "1")]
    assert rows(path) == before
    assert deltaic.Table(path).totals().files == 6


def rewrite(path: Path, version: int, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes the files that a commit adds, in the log."""
    commit = sorted(Path(path, "_delta_log").glob("*.json"))[version]
    actions = [json.loads(line) for line in commit.read_text(encoding="utf-8").splitlines()]
    for action in actions:
        if "add" in action:
            change(action["add"])
    commit.write_text("".join(json.dumps(a) + "\n" for a in actions), encoding="utf-8")
    for checksum in commit.parent.glob("*.crc"):
        checksum.unlink()


@pytest.mark.parametrize("column", ["l", "m"])
def test_null_counts_of_lists_that_are_wrong_lose_no_row(engine: Any, column: str, tmp_path: Path) -> None:
    """Older versions of delta-rs counted all lists as null."""
    path = tmp_path / "t"
    kind = pa.map_(pa.string(), pa.int64())
    engine.write(path, pa.table({"l": [[1], [2]], "m": pa.array([[("k", 1)], [("k", 2)]], kind)}))

    def all_null(add: dict[str, Any]) -> None:
        stats = json.loads(add["stats"])
        stats["nullCount"][column] = stats["numRecords"]
        add["stats"] = json.dumps(stats)

    rewrite(path, 0, all_null)
    assert len(rows(path, f"{column} IS NOT NULL")) == 2
    assert rows(path, f"{column} IS NULL") == []
    assert len(rows(path)) == 2


def test_bounds_of_booleans_that_are_wrong_lose_no_row(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    engine.write(path, pa.table({"flag": [False, True], "id": [1, 2]}))

    def true_only(add: dict[str, Any]) -> None:
        stats = json.loads(add["stats"])
        stats["minValues"]["flag"] = stats["maxValues"]["flag"] = True
        add["stats"] = json.dumps(stats)

    rewrite(path, 0, true_only)
    assert [r["id"] for r in rows(path, "flag = false")] == [1]


UTC = dt.timezone.utc
PARTITIONS: dict[str, pa.Array] = {
    "text": pa.array(["a b", "ü%/"], pa.string()),
    "large text": pa.array(["a", "b"], pa.large_string()),
    "byte": pa.array([-128, 127], pa.int8()),
    "short": pa.array([-1, 2], pa.int16()),
    "integer": pa.array([-1, 2], pa.int32()),
    "long": pa.array([-(2**63), 2**63 - 1], pa.int64()),
    "float": pa.array([-1.5, 2.25], pa.float32()),
    "double": pa.array([-1.5, 1e10], pa.float64()),
    "boolean": pa.array([True, False], pa.bool_()),
    "binary": pa.array([b"abc", b"x"], pa.binary()),
    "decimal": pa.array([decimal.Decimal("1.50"), decimal.Decimal("2.25")], pa.decimal128(10, 2)),
    "date": pa.array([dt.date(1900, 1, 1), dt.date(9999, 12, 31)], pa.date32()),
    "timestamp": pa.array(
        [dt.datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), dt.datetime(2026, 1, 1, tzinfo=UTC)]
    ),
    "wall clock": pa.array(
        [dt.datetime(2026, 1, 1, 2, 3, 4, 5), dt.datetime(1600, 1, 1)], pa.timestamp("us")
    ),
}


@pytest.mark.parametrize("kind", PARTITIONS)
@pytest.mark.parametrize("nulls", [0, 1], ids=["values", "with null"])
def test_checkpoints_have_each_type_as_partition(engine: Any, kind: str, nulls: int, tmp_path: Path) -> None:
    path = tmp_path / "t"
    values = PARTITIONS[kind]
    if nulls:
        values = pa.array([values[0].as_py(), None], values.type)
    engine.write(path, pa.table({"p": values, "id": [1, 2]}), ["p"])
    expected = rows(path)
    engine.checkpoint(path)
    for file in Path(path, "_delta_log").iterdir():
        if file.suffix in {".json", ".crc"} and "checkpoint" not in file.name:
            file.unlink()
    assert deltaic.Table(path).report["opened_from"] == "checkpoint"
    assert sorted(pa.table(deltaic.Table(path).to_arrow()).to_pylist(), key=repr) == expected
    assert [r["id"] for r in pa.table(deltaic.Table(path).to_arrow(where="p IS NULL")).to_pylist()] == [
        2
    ] * nulls


def test_days_of_milliseconds_are_dates(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    days = [dt.date(1969, 12, 31), dt.date(2026, 1, 1), None]
    engine.write(path, pa.table({"day": pa.array(days, pa.date64())}))
    assert [f.type for f in pa.schema(deltaic.Table(path).schema)] == [pa.date32()]
    assert sorted((r["day"] for r in rows(path)), key=repr) == sorted(days, key=repr)


@pytest.mark.parametrize("zone", [None, "UTC"], ids=["wall clock", "instant"])
def test_nested_nanoseconds_are_cut_towards_the_past(zone: str | None, tmp_path: Path) -> None:
    path = tmp_path / "t"
    kind = pa.timestamp("ns", zone)
    at = pa.array([1_999, -1, None], kind)
    lists = pa.ListArray.from_arrays([0, 1, 2, 3], at)
    structs = pa.StructArray.from_arrays([at], ["at"])
    maps = pa.MapArray.from_arrays([0, 1, 2, 3], pa.array(["k"] * 3), at)
    deltaic.write(path, pa.table({"l": lists, "s": structs, "m": maps}))
    micros = pa.timestamp("us", zone)
    expected = pa.array([1, -1, None], micros).to_pylist()
    found = rows(path)
    assert {repr(r["l"][0]) for r in found} == set(map(repr, expected))
    assert {repr(r["s"]["at"]) for r in found} == set(map(repr, expected))
    assert {repr(dict(r["m"])["k"]) for r in found} == set(map(repr, expected))


def test_int96_of_the_year_9999(tmp_path: Path) -> None:
    path = tmp_path / "t"
    last = dt.datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    file = tmp_path / "t" / "part.parquet"
    file.parent.mkdir()
    data = pa.table({"at": pa.array([last], pa.timestamp("us", "UTC")), "id": [1]})
    pq.write_table(data, file, use_deprecated_int96_timestamps=True)
    deltaic.convert(path)
    # pyarrow, through which `deltalake` reads, has no such instant
    assert pa.table(deltaic.Table(path).to_arrow())["at"].to_pylist() == [last]
    assert len(rows(path, "at = TIMESTAMP '9999-12-31 23:59:59Z'")) == 1
    assert rows(path, "at < TIMESTAMP '2020-01-01 00:00:00Z'") == []


def test_threads_append_to_one_table_and_read_one_object(tmp_path: Path) -> None:
    path = tmp_path / "t"
    deltaic.write(path, pa.table({"id": [0]}))
    table = deltaic.Table(path)
    with ThreadPoolExecutor(10) as threads:
        list(threads.map(lambda n: deltaic.write(path, pa.table({"id": [n]})), range(1, 11)))
        read = list(threads.map(lambda _: pa.table(table.to_arrow()).num_rows, range(10)))
    assert read == [1] * 10
    assert [r["id"] for r in rows(path)] == sorted(range(11), key=lambda n: repr({"id": n}))


def test_leaves_of_lists_are_not_counted_among_the_indexed_columns(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    wide = {f"f{n}": n for n in range(31)}
    engine.write(path, pa.table({"l": [[wide]], "year": [2026]}))
    stats = json.loads(adds(path)[0]["stats"])
    assert stats["minValues"] == {"year": 2026}
    assert len(rows(path, "year = 2026")) == 1
    assert rows(path, "year = 2027") == []


def test_listed_columns_with_a_checkpoint_between(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    engine.write(path, pa.table({"a": [1], "b": [1]}), None, **{"delta.dataSkippingStatsColumns": "a"})
    engine.checkpoint(path)
    engine.write(path, pa.table({"a": [2], "b": [2]}))
    assert sorted(json.loads(adds(path)[0]["stats"])["minValues"]) == ["a"]
    for n in (1, 2):
        assert [r["a"] for r in rows(path, f"a = {n}")] == [n]
        assert [r["a"] for r in rows(path, f"b = {n}")] == [n]
    assert len(rows(path, "b > 0")) == 2


def test_features_follow_a_constraint_and_then_vectors(tmp_path: Path) -> None:
    path = tmp_path / "t"
    deltaic.write(path, pa.table({"id": [1]}))
    table = deltaic.Table(path)
    table.add_constraint("c", "id > 0")
    protocol = table.update().protocol
    assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 3)
    table.set_properties({"delta.enableDeletionVectors": "true"})
    ours = DeltaTable(path).protocol()
    assert (ours.min_reader_version, ours.min_writer_version) == (3, 7)
    assert {"checkConstraints", "invariants", "appendOnly", "deletionVectors"} == set(ours.writer_features)


def test_a_partition_without_statistics_is_deleted_without_a_count(tmp_path: Path) -> None:
    path = tmp_path / "t"
    deltaic.write(path, pa.table({"p": ["a", "a", "b"], "id": [1, 2, 3]}), partition_by="p")
    rewrite(path, 0, lambda add: add.pop("stats"))
    done = deltaic.Table(path).delete("p = 'a'")
    assert done.deleted_rows is None
    assert [r["id"] for r in rows(path)] == [3]


@pytest.mark.parametrize("what", ["delete", "update", "optimize"])
def test_files_that_are_written_again_have_the_table_s_codec(what: str, tmp_path: Path) -> None:
    path = tmp_path / "t"
    settings = {"delta.parquet.compression.codec": "gzip", "delta.dataSkippingNumIndexedCols": "1"}
    for n in range(2):
        deltaic.write(path, pa.table({"id": [n, n + 10], "b": [n, n]}), configuration=settings)
    table = deltaic.Table(path)
    if what == "delete":
        table.delete("id = 1")
    elif what == "update":
        table.update_rows({"b": "7"}, "id = 1")
    else:
        table.optimize()
    new = adds(path)
    assert new
    for add in new:
        assert pq.ParquetFile(path / add["path"]).metadata.row_group(0).column(0).compression == "GZIP"
        assert list(json.loads(add["stats"])["minValues"]) == ["id"]


def test_columns_of_nulls_join_a_table_that_has_types(tmp_path: Path) -> None:
    path = tmp_path / "t"
    typed = pa.table({"id": [1], "name": ["a"], "s": [{"x": 1, "y": "b"}], "l": [[1]]})
    deltaic.write(path, typed)
    nulls = pa.table({
        "id": [2],
        "name": pa.nulls(1),
        "s": pa.array([{"x": 2, "y": None}], pa.struct([("x", pa.int64()), ("y", pa.null())])),
        "l": pa.nulls(1),
    })  # fmt: skip
    deltaic.write(path, nulls)
    assert pa.schema(deltaic.Table(path).schema).equals(typed.schema)
    assert [(r["name"], r["s"], r["l"]) for r in rows(path) if r["id"] == 2] == [
        (None, {"x": 2, "y": None}, None)
    ]


def test_a_repaired_table_is_read_by_deltalake(tmp_path: Path) -> None:
    path = tmp_path / "t"
    for n in range(3):
        deltaic.write(path, pa.table({"id": [n]}))
    (path / adds(path)[0]["path"]).unlink()
    deltaic.Table(path).fsck()
    assert [r["id"] for r in rows(path)] == [0, 1]


@pytest.mark.parametrize(
    ("expression", "breaks"),
    [
        ("`an id` BETWEEN 1 AND 5", {"an id": [9]}),
        ("CAST(`an id` AS STRING) <> '7'", {"an id": [7]}),
        ("`an id` IN (1, 2, 3) OR name = 'x'", {"an id": [9], "name": ["y"]}),
    ],
)
def test_the_text_of_a_constraint_is_kept(
    expression: str, breaks: dict[str, list[Any]], tmp_path: Path
) -> None:
    path = tmp_path / "t"
    mapped = {"delta.columnMapping.mode": "name"}
    deltaic.write(path, pa.table({"an id": [1], "name": ["x"]}), configuration=mapped)
    deltaic.Table(path).add_constraint("a name", expression)
    assert deltaic.Table(path).properties["delta.constraints.a name"] == expression
    deltaic.write(path, pa.table({"an id": [2], "name": ["x"]}))
    with pytest.raises(deltaic.exceptions.DeltaError, match="a name"):
        deltaic.write(path, pa.table({"name": ["y"], **breaks}).select(["an id", "name"]))
    assert pa.table(deltaic.Table(path).to_arrow()).num_rows == 2


def test_changes_of_the_last_version_alone(tmp_path: Path) -> None:
    path = tmp_path / "t"
    for n in range(3):
        deltaic.write(path, pa.table({"id": [n]}), configuration={"delta.enableChangeDataFeed": "true"})
    ours = pa.table(deltaic.Table(path).changes(2)).to_pylist()
    theirs = pa.table(DeltaTable(path).load_cdf(starting_version=2)).to_pylist()
    for found in (ours, theirs):
        assert [(r["id"], r["_change_type"], r["_commit_version"]) for r in found] == [(2, "insert", 2)]


def test_looking_for_a_table_makes_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "none"
    with pytest.raises(deltaic.exceptions.TableNotFoundError):
        deltaic.Table(path)
    assert not path.exists()
    with pytest.raises(deltaic.exceptions.DeltaError):
        deltaic.write(path, pa.table({"id": [1]}), mode="of no kind")
    assert not path.exists()


def test_rows_of_later_appends_stay_behind_older_ones(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    for number in range(4):
        engine.write(path, pa.table({"id": pa.array(range(number * 100, number * 100 + 100), pa.int64())}))
    engine.optimize(path)
    (file,) = adds(path)
    found = pq.read_table(path / file["path"])["id"].to_pylist()
    runs = [found[at : at + 100] for at in range(0, 400, 100)]
    assert all(run == list(range(run[0], run[0] + 100)) for run in runs)
    assert sorted(found) == list(range(400))


def test_what_may_be_null_already_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "t"
    deltaic.write(path, pa.table({"a": pa.array([1], pa.int64())}))
    before = deltaic.Table(path).version
    assert deltaic.Table(path).change_column("a", nullable=True) == before
    assert DeltaTable(path).version() == before
