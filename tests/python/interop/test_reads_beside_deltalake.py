"""What `deltaic` and `deltalake` write is read alike by both: values, partitions, and what maintenance leaves."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from deltalake import CommitProperties, DeltaTable, QueryBuilder, Transaction, write_deltalake
from deltalake.exceptions import DeltaError
from deltalake_engines import Ours, Theirs, adds, rows

import deltaic

UTC = dt.timezone.utc
DAY = 86_400


@pytest.fixture(params=[Ours, Theirs], ids=["deltaic", "deltalake"])
def engine(request: pytest.FixtureRequest) -> Any:
    return request.param


# -- values

VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "binary": (pa.binary(), [b"a\x00\xff", b"", None]),
    "large binary": (pa.large_binary(), [b"x" * 70, None]),
    "large text": (pa.large_utf8(), ["ä" * 70, "", None]),
    "large lists": (pa.large_list(pa.int64()), [[1, None], [], None]),
    "views": (pa.string_view(), ["a view that is longer than twelve", "b", None]),
    "views of bytes": (pa.binary_view(), [b"a view that is longer than twelve", None]),
    "dictionary": (pa.dictionary(pa.int8(), pa.utf8()), ["a", "b", "a", None]),
    "structs": (pa.struct([("d", pa.int16()), ("e", pa.int16())]), [{"d": -55, "e": None}, None]),
    "maps": (pa.map_(pa.utf8(), pa.float64()), [[("a", 1.5), ("b", None)], [], None]),
    "instants": (pa.timestamp("us", "UTC"), [dt.datetime(9999, 12, 31, tzinfo=UTC), None]),
    "times": (pa.timestamp("us"), [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999_999)]),
    "dates": (pa.date32(), [dt.date(1, 1, 1), dt.date(9999, 12, 31), None]),
    "decimals": (pa.decimal128(38, 10), [decimal.Decimal("-1234567890123456789012345678.0123456789"), None]),
    "small decimals": (pa.decimal128(3, 2), [decimal.Decimal("-0.01"), decimal.Decimal("9.99")]),
    "floats": (pa.float32(), [float("inf"), float("-inf"), -0.0, 1.5, None]),
    "doubles": (pa.float64(), [1e300, 5e-324, None]),
    "booleans": (pa.bool_(), [True, False, None]),
    "bytes": (pa.int8(), [-128, 127, None]),
    "deep": (pa.list_(pa.struct([("m", pa.map_(pa.utf8(), pa.list_(pa.int32())))])), [[{"m": [("k", [1])]}]]),
}


@pytest.mark.parametrize("kind", VALUES)
def test_values_come_back(engine: Any, kind: str, tmp_path: Path) -> None:
    """By both readers, beside another column, and again behind a second write."""
    of, values = VALUES[kind]
    path = tmp_path / "t"
    data = pa.table({"v": pa.array(values, of), "n": pa.array(range(len(values)), pa.int32())})
    engine.write(path, data)
    engine.write(path, data)
    plain = values if of != VALUES["floats"][0] else [None if v is None else float(v) for v in values]
    found = [r["v"] for r in sorted(rows(path), key=lambda r: r["n"])]
    assert found == [v for v in plain for _ in range(2)]


def test_a_small_number_without_sign(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    engine.write(path, pa.table({"foo": pa.array([1, 2, 3, 4], pa.uint8())}))
    assert [r["foo"] for r in rows(path)] == [1, 2, 3, 4]


def test_columns_in_another_order(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    engine.write(path, pa.table({"a": [1], "b": ["x"], "c": [1.5]}))
    engine.write(path, pa.table({"c": [2.5], "a": [2], "b": ["y"]}))
    assert sorted((r["a"], r["b"], r["c"]) for r in rows(path)) == [(1, "x", 1.5), (2, "y", 2.5)]


HANDED: dict[str, Any] = {
    "a reader": lambda data: data.to_reader(3),
    "a slice": lambda data: data.slice(0, 10),
    "a scan": lambda data: ds.dataset(data).scanner().to_reader(),
    "a generator": lambda data: pa.RecordBatchReader.from_batches(data.schema, iter(data.to_batches(4))),
    "a batch": lambda data: data.to_batches()[0],
}


@pytest.mark.parametrize("kind", HANDED)
def test_what_is_handed_over_is_written_whole(engine: Any, kind: str, tmp_path: Path) -> None:
    data = pa.table({"a": range(10), "p": [f"{n % 2}" for n in range(10)]})
    engine.write(tmp_path / "t", HANDED[kind](data), ["p"])
    assert sorted(r["a"] for r in rows(tmp_path / "t")) == list(range(10))


# -- partitions and conditions

ODD = ["A/A", "B B", "a=b", "100%", "ä", "x:y", "#?&+", "'q'", '"d"', "{}", "%20", "..", "~"]


def test_odd_texts_as_partitions(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    engine.write(path, pa.table({"x": ODD, "n": range(len(ODD))}), ["x"])
    assert sorted(r["x"] for r in rows(path)) == sorted(ODD)
    for number, text in enumerate(ODD):
        quoted = text.replace("'", "''")
        assert [r["n"] for r in rows(path, f"x = '{quoted}'")] == [number]
        assert len(pa.table(deltaic.Table(path).files(f"x = '{quoted}'"))) == 1
    assert rows(path, "x = 'c'") == []


PARTITIONS: dict[str, tuple[list[Any], str, list[int]]] = {
    "whole numbers": ([2020, 2021, None], "p = 2020", [0]),
    "fractions": ([2020.5, 2021.0, None], "p = 2021", [1]),
    "booleans": ([True, False, None], "p", [0]),
    "booleans in a list": ([True, False, None], "p IN (true, false)", [0, 1]),
    "dates": ([dt.date(2023, 1, 1), dt.date(2024, 8, 2), None], "p = DATE '2023-01-01'", [0]),
    "texts": (["A", "B", None], "p <> 'A'", [1]),
    "not in a list": (["3", "20", "5"], "p NOT IN ('3', '20')", [2]),
    "null": (["A", "B", None], "p IS NULL", [2]),
    "not null": (["A", "B", None], "p IS NOT NULL", [0, 1]),
    "instants": (
        [dt.datetime(2023, 9, 15, tzinfo=UTC), dt.datetime(2026, 1, 1, 12, 5, 7, tzinfo=UTC), None],
        "p = TIMESTAMP '2026-01-01 12:05:07'",
        [1],
    ),
    "times": ([dt.datetime(2023, 9, 15), dt.datetime(2026, 1, 1, 12, 5, 7), None], "p IS NOT NULL", [0, 1]),
}


@pytest.mark.parametrize("kind", PARTITIONS)
def test_partitions_are_chosen_by_value(engine: Any, kind: str, tmp_path: Path) -> None:
    values, where, chosen = PARTITIONS[kind]
    path = tmp_path / "t"
    engine.write(path, pa.table({"p": values, "n": range(len(values))}), ["p"])
    assert len(rows(path)) == len(values)
    assert sorted(r["n"] for r in rows(path, where)) == chosen
    assert len(pa.table(deltaic.Table(path).files(where))) == len(chosen)
    partitions = [dict(a["partition_values"]) for a in pa.table(deltaic.Table(path).files()).to_pylist()]
    theirs = pa.table(DeltaTable(path).get_add_actions(flatten=True)).column("partition.p").to_pylist()
    assert sorted(part["p"] is None for part in partitions) == sorted(value is None for value in theirs)


def test_nulls_choose_files(engine: Any, tmp_path: Path) -> None:
    """One file without nulls, one of nulls alone, and one of both."""
    path = tmp_path / "t"
    data = pa.table({"part": ["a", "a", "b", "b", "c", "c"], "value": [1, 1, None, None, 2, None]})
    engine.write(path, data, ["part"])
    for where, files, found in (
        ("value IS NOT NULL", 2, [("a", 1), ("a", 1), ("c", 2)]),
        ("value IS NULL", 2, [("b", None), ("b", None), ("c", None)]),
        ("value > 1", 1, [("c", 2)]),
        ("value < 0", 0, []),
        ("part = 'b' AND value > 0", 0, []),
        ("part = 'a' OR value = 2", 2, [("a", 1), ("a", 1), ("c", 2)]),
    ):
        assert sorted(((r["part"], r["value"]) for r in rows(path, where)), key=repr) == sorted(
            found, key=repr
        )
        assert len(pa.table(deltaic.Table(path).files(where))) == files, where


def test_instants_at_the_edge_choose_files(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    edge = dt.datetime(9999, 12, 31, tzinfo=UTC)
    for value in (edge, edge - dt.timedelta(days=1), dt.datetime(1, 1, 1, tzinfo=UTC)):
        engine.write(path, pa.table({"at": [value]}))
    assert [r["at"] for r in rows(path, "at = TIMESTAMP '9999-12-31 00:00:00'")] == [edge]
    assert len(pa.table(deltaic.Table(path).files("at = TIMESTAMP '9999-12-31 00:00:00'"))) == 1


def test_columns_and_files_of_an_empty_table(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    engine.write(path, pa.table({"a": [1], "p": ["x"]}), ["p"])
    deltaic.Table(path).delete("true")
    assert rows(path) == []
    table = deltaic.Table(path)
    assert len(pa.table(table.files(stats=True))) == 0
    assert pa.schema(table.schema).names == ["a", "p"]
    assert pa.table(table.to_arrow(columns=["p"])).schema.names == ["p"]


def test_a_replaced_partition_of_a_time(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    data = pa.table({"time": [dt.datetime(2026, 1, 1, 12, 5, 7, tzinfo=UTC)], "value": [10]})
    engine.write(path, data, ["time"])
    engine.replace(path, data, "value >= 10")
    assert [r["value"] for r in rows(path)] == [10]


# -- the log


def test_a_hint_that_was_not_updated(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    for number in range(3):
        engine.write(path, pa.table({"a": [number]}))
    engine.checkpoint(path)
    hint = path / "_delta_log" / "_last_checkpoint"
    kept = hint.read_bytes()
    engine.write(path, pa.table({"a": [3]}))
    engine.checkpoint(path)
    hint.write_bytes(kept)
    assert [r["a"] for r in rows(path)] == [0, 1, 2, 3]
    assert deltaic.Table(path).version == DeltaTable(path).version() == 3


def test_versions_and_times(engine: Any, tmp_path: Path) -> None:
    """Also when the first commits are gone, and a checkpoint has what they said."""
    path = tmp_path / "t"
    for number in range(4):
        engine.write(path, pa.table({"a": [number]}))
        at = 1_600_000_000 + number * DAY
        os.utime(path / "_delta_log" / f"{number:020}.json", (at, at))

    def of(**point: Any) -> int:
        return len(pa.table(deltaic.Table(path, **point).to_arrow()))

    def theirs(point: Any) -> int:
        table = DeltaTable(path)
        table.load_as_version(point)
        return len(table.to_pyarrow_table())

    for number in range(4):
        assert of(version=number) == theirs(number) == number + 1
        at = dt.datetime.fromtimestamp(1_600_000_000 + number * DAY, UTC)
        assert of(timestamp=at) == theirs(at) == number + 1
    engine.checkpoint(path)
    for number in range(2):
        (path / "_delta_log" / f"{number:020}.json").unlink()
    assert of() == 4
    with pytest.raises(deltaic.exceptions.DeltaError):
        of(version=1)
    with pytest.raises(deltaic.exceptions.DeltaError):
        of(timestamp="no time")


def test_transactions_of_applications(tmp_path: Path) -> None:
    """Of two applications, written by both and read by each."""
    path = tmp_path / "t"
    data = pa.table({"a": [1]})
    deltaic.write(path, data, app_transaction=("ours", 3))
    properties = CommitProperties(app_transactions=[Transaction("theirs", 5)])
    write_deltalake(path, data, mode="append", commit_properties=properties)
    table = DeltaTable(path)
    assert (table.transaction_version("ours"), table.transaction_version("theirs")) == (3, 5)
    deltaic.write(path, data, app_transaction=("theirs", 5))
    assert deltaic.Table(path).version == 1
    deltaic.write(path, data, app_transaction=("theirs", 6))
    assert DeltaTable(path).transaction_version("theirs") == 6


def test_a_log_that_is_cleaned(tmp_path: Path) -> None:
    """What `deltaic` leaves of a log `deltalake` reads, and nothing goes without a checkpoint."""
    path = tmp_path / "t"
    for number in range(5):
        deltaic.write(path, pa.table({"a": [number]}))
    log = path / "_delta_log"

    def age() -> None:
        for number, file in enumerate(sorted(log.glob("*.json"))):
            at = time.time() - 60 * DAY + number
            os.utime(file, (at, at))

    age()
    deltaic.Table(path).clean_log()
    assert len(list(log.glob("*.json"))) == 5
    deltaic.Table(path).checkpoint()
    deltaic.write(path, pa.table({"a": [5]}))
    age()
    (log / "00000000000000000001.json.tmp").write_text("{}")
    os.utime(log / "00000000000000000001.json.tmp", (0, 0))
    deltaic.Table(path).clean_log()
    assert not (log / f"{0:020}.json").exists()
    # another writer may be slow and not gone
    assert (log / "00000000000000000001.json.tmp").exists()
    assert [r["a"] for r in rows(path)] == list(range(6))


def test_a_clean_log_of_the_other(tmp_path: Path) -> None:
    path = tmp_path / "t"
    retention = {"delta.logRetentionDuration": "interval 0 days"}
    for number in range(5):
        write_deltalake(
            path, pa.table({"a": [number]}), mode="append", configuration=retention if not number else None
        )
    table = DeltaTable(path)
    table.create_checkpoint()
    table.cleanup_metadata()
    assert [r["a"] for r in rows(path)] == list(range(5))
    deltaic.write(path, pa.table({"a": [5]}))
    assert len(rows(path)) == 6


@pytest.mark.parametrize("feature", ["below 3 and 7", "from 3 and 7"])
def test_features_of_a_checkpoint(engine: Any, feature: str, tmp_path: Path) -> None:
    path = tmp_path / "t"
    more = {} if feature.startswith("below") else {"delta.enableDeletionVectors": "true"}
    engine.write(path, pa.table({"a": [1]}), None, **more)
    before = deltaic.Table(path).protocol
    engine.checkpoint(path)
    for file in (path / "_delta_log").glob("*.crc"):
        file.unlink()
    (path / "_delta_log" / f"{0:020}.json").unlink()
    assert deltaic.Table(path).protocol == before
    theirs = DeltaTable(path).protocol()
    assert theirs.min_reader_version == before.min_reader_version
    assert set(theirs.writer_features or []) == set(before.writer_features or [])


# -- maintenance


def test_columns_that_joined_are_compacted(tmp_path: Path) -> None:
    """Files that lack one column each, by both."""
    for number, compact in enumerate(
        (lambda path: deltaic.Table(path).optimize(), lambda path: DeltaTable(path).optimize.compact())
    ):
        path = tmp_path / f"t{number}"
        write_deltalake(path, pa.table({"foo": ["1"]}))
        write_deltalake(path, pa.table({"bar": ["1"]}), mode="append", schema_mode="merge")
        compact(path)
        assert len(pa.table(deltaic.Table(path).files())) == 1
        assert sorted((r["foo"], r["bar"]) for r in rows(path) if r["foo"]) == [("1", None)]
        assert [r["bar"] for r in rows(path, "foo IS NULL")] == ["1"]
        assert deltaic.Table(path).history(1)[0]["operation"] == "OPTIMIZE"


def test_a_partition_with_a_blank_is_sorted(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    data = {"user": ["James", "Anna", "Sara"], "country": ["United States", "Canada", "Costa Rica"]}
    engine.write(path, pa.table(data), ["country"])
    engine.write(path, pa.table(data), ["country"])
    engine.optimize(path, zorder=["user"])
    assert len(rows(path)) == 6
    assert [r["user"] for r in rows(path, "country = 'United States'")] == ["James", "James"]


def test_vacuum_with_null_partitions_and_a_checkpoint(engine: Any, tmp_path: Path) -> None:
    """Of what one leaves the other reads; a version whose files are kept long enough is read after it."""
    path = tmp_path / "t"
    data = pa.table({"n": [1, 2], "year": pa.array([2023, None])})
    engine.write(path, data, ["year"])
    engine.checkpoint(path)
    engine.write(path, data, ["year"])
    engine.optimize(path)
    before = deltaic.Table(path).version - 1
    if engine is Ours:
        deltaic.Table(path).vacuum()
    else:
        DeltaTable(path).vacuum(dry_run=False, full=True)
    assert len(pa.table(deltaic.Table(path, version=before).to_arrow())) == 4
    if engine is Ours:
        deltaic.Table(path).vacuum(retention_hours=0, allow_short_retention=True)
    else:
        DeltaTable(path).vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    assert sorted(r["n"] for r in rows(path)) == [1, 1, 2, 2]
    assert len(list(path.rglob("*.parquet"))) - len(list((path / "_delta_log").glob("*.parquet"))) == 2


# -- definitions


def test_a_definition_comes_back(tmp_path: Path) -> None:
    """Name, description, properties, partitioning and NOT NULL, of each by the other."""
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False), pa.field("p", pa.utf8())])
    given = {"delta.appendOnly": "false", "own": "1"}
    deltaic.create(
        tmp_path / "o",
        "a BIGINT NOT NULL, p STRING",
        partition_by=["p"],
        name="n",
        description="d",
        configuration=given,
    )
    DeltaTable.create(
        tmp_path / "t", schema, partition_by=["p"], name="n", description="d", configuration=given,
        raise_if_key_not_exists=False,
    )  # fmt: skip
    for path in (tmp_path / "o", tmp_path / "t"):
        theirs, ours = DeltaTable(path), deltaic.Table(path)
        assert (theirs.metadata().name, theirs.metadata().description) == ("n", "d")
        assert (ours.metadata.name, ours.metadata.description) == ("n", "d")
        assert theirs.metadata().partition_columns == ours.partition_columns == ["p"]
        assert given.items() <= ours.metadata.configuration.items()
        assert not pa.schema(ours.schema).field("a").nullable
        assert not pa.schema(theirs.schema().to_arrow()).field("a").nullable


def test_a_generated_column_does_not_join(tmp_path: Path) -> None:
    """A column that is added has no expression: rows that are there would lack its values."""
    path = tmp_path / "t"
    deltaic.write(path, pa.table({"id": [1]}))
    field = {
        "name": "gc", "type": "integer", "nullable": True, "metadata": {"delta.generationExpression": "5"},
    }  # fmt: skip
    schema = json.dumps({"type": "struct", "fields": [field]})
    with pytest.raises(deltaic.exceptions.DeltaError):
        deltaic.Table(path).add_columns(schema)
    assert deltaic.Table(path).version == 0


def test_the_home_folder(engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path)
    engine.write("~/t", pa.table({"a": [1]}))
    assert [p.name for p in tmp_path.iterdir()] == ["home"]
    assert [r["a"] for r in rows(tmp_path / "home" / "t")] == [1]
    assert deltaic.Table(Path("~/t")).version == 0


def test_a_table_that_was_moved(engine: Any, tmp_path: Path) -> None:
    engine.write(tmp_path / "t", pa.table({"a": [1]}))
    shutil.move(tmp_path / "t", tmp_path / "u")
    assert [r["a"] for r in rows(tmp_path / "u")] == [1]


@pytest.mark.parametrize("mode", ["name", "id"])
def test_mapped_columns_of_deltaic_by_the_other(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "t"
    data = pa.table({"a b": [1, 2], "c,d": ["x", "y"]})
    deltaic.write(path, data, configuration={"delta.columnMapping.mode": mode})
    deltaic.Table(path).rename_column("c,d", "e")
    deltaic.write(path, pa.table({"a b": [3], "e": ["z"]}))
    found = (
        QueryBuilder().register("t", DeltaTable(path)).execute('SELECT "a b", e FROM t ORDER BY 1').read_all()
    )
    assert pa.table(found).to_pylist() == [{"a b": n, "e": v} for n, v in ((1, "x"), (2, "y"), (3, "z"))]
    assert len(adds(path)) == 1


def test_generated_columns_are_made_and_checked_by_both(tmp_path: Path) -> None:
    path = tmp_path / "t"
    expression = {"delta.generationExpression": "id * 10"}
    fields = [
        {"name": "id", "type": "integer", "nullable": True, "metadata": {}},
        {"name": "gc", "type": "integer", "nullable": True, "metadata": expression},
    ]
    deltaic.create(path, {"type": "struct", "fields": fields})
    ids = pa.array([1, 2], pa.int32())
    deltaic.write(path, pa.table({"id": ids}))
    write_deltalake(path, pa.table({"id": ids}), mode="append")
    given = pa.table({"id": ids, "gc": pa.array([10, 20], pa.int32())})
    wrong = pa.table({"id": ids, "gc": pa.array([10, 21], pa.int32())})
    deltaic.write(path, given)
    write_deltalake(path, given, mode="append")
    with pytest.raises(deltaic.exceptions.InvariantViolationError):
        deltaic.write(path, wrong)
    with pytest.raises(DeltaError):
        write_deltalake(path, wrong, mode="append")
    assert sorted((r["id"], r["gc"]) for r in rows(path)) == sorted([(1, 10), (2, 20)] * 4)
    assert deltaic.Table(path).protocol.min_writer_version >= 4


def test_an_update_keeps_to_the_columns_with_statistics(tmp_path: Path) -> None:
    path = tmp_path / "t"
    data = pa.table({"foo": [1, 2], "bar": ["a", "b"], "baz": [1.5, 2.5]})
    for number, update in enumerate(
        (
            lambda at: deltaic.Table(at).update_rows({"bar": "'z'"}, "foo = 1"),
            lambda at: DeltaTable(at).update(updates={"bar": "'z'"}, predicate="foo = 1"),
        )
    ):
        at = path / str(number)
        deltaic.write(at, data, configuration={"delta.dataSkippingStatsColumns": "foo,baz"})
        update(at)
        stats = [json.loads(file["stats"]) for file in adds(at)]
        assert all(set(s["minValues"]) <= {"foo", "baz"} for s in stats)
        assert sorted((r["foo"], r["bar"]) for r in rows(at)) == [(1, "z"), (2, "b")]


def test_a_new_column_of_a_mapped_table_is_refused(tmp_path: Path) -> None:
    """By a write that does not evolve, and by `deltalake` where it would."""
    path = tmp_path / "t"
    deltaic.write(path, pa.table({"a": [1]}), configuration={"delta.columnMapping.mode": "name"})
    more = pa.table({"a": [2], "b": ["x"]})
    with pytest.raises(deltaic.exceptions.SchemaMismatchError):
        deltaic.write(path, more)
    with pytest.raises(DeltaError):
        write_deltalake(path, more, mode="append", schema_mode="merge")
    assert deltaic.Table(path).version == 0
    assert pa.table(deltaic.Table(path).to_arrow()).to_pylist() == [{"a": 1}]


def test_a_description_that_is_set_later(tmp_path: Path) -> None:
    path = tmp_path / "t"
    deltaic.write(path, pa.table({"a": [1]}), configuration={"own": "1"})
    for text in ("first", "second"):
        deltaic.Table(path).set_properties({"comment": text})
        assert DeltaTable(path).metadata().description == deltaic.Table(path).metadata.description == text
    DeltaTable(path).alter.set_table_name("named")
    DeltaTable(path).alter.set_table_description("third")
    found = deltaic.Table(path).metadata
    assert (found.name, found.description, found.configuration) == ("named", "third", {"own": "1"})
    assert len(rows(path)) == 1
