"""`deltaic.Table`: versions, properties, files, rows, history."""

import json
import pickle
from datetime import date, datetime, timedelta, timezone

import pyarrow as pa
import pytest

import deltaic
from deltaic import exceptions


def rows(stream):
    return pa.table(stream).sort_by("id").to_pylist()


def ids(stream):
    return sorted(pa.table(stream).column("id").to_pylist())


class TestOpen:
    def test_the_newest_version_is_opened(self, table):
        assert deltaic.Table(table.root).version == 3
        assert deltaic.Table(str(table.root)).uri == str(table.root)
        assert deltaic.Table(table.root.as_uri()).uri == str(table.root)

    def test_no_table(self, tmp_path):
        with pytest.raises(exceptions.TableNotFoundError, match="no Delta table at") as caught:
            deltaic.Table(tmp_path)
        assert caught.value.path == str(tmp_path)
        assert isinstance(caught.value, FileNotFoundError)

    def test_a_version(self, table):
        assert deltaic.Table(table.root, version=1).version == 1
        assert deltaic.Table(f"{table.root}@v1").version == 1

    def test_a_version_that_is_not_there(self, table):
        with pytest.raises(exceptions.VersionNotFoundError) as caught:
            deltaic.Table(table.root, version=9)
        assert (caught.value.version, caught.value.earliest, caught.value.latest) == (9, 0, 3)

    @pytest.mark.parametrize(
        "when",
        [
            "2026-01-01 00:01:30",
            "2026-01-01T02:01:30+02:00",
            datetime(2026, 1, 1, 0, 1, 30),
            datetime(2026, 1, 1, 0, 1, 30, tzinfo=timezone.utc),
            datetime(2026, 1, 1, 2, 1, 30, tzinfo=timezone(timedelta(hours=2))),
        ],
    )
    def test_a_timestamp_is_the_newest_commit_at_or_before_it(self, table, when):
        assert deltaic.Table(table.root, timestamp=when).version == 1

    def test_a_date_is_its_midnight(self, table):
        assert deltaic.Table(table.root, timestamp=date(2026, 1, 1)).version == 0

    def test_a_timestamp_in_the_path(self, table):
        assert deltaic.Table(f"{table.root}@20260101000200000").version == 2

    @pytest.mark.parametrize("when", ["2025-12-31", "2026-01-01 00:03:01"])
    def test_a_timestamp_outside_the_log_names_the_range(self, table, when):
        with pytest.raises(exceptions.TimestampOutOfRangeError) as caught:
            deltaic.Table(table.root, timestamp=when)
        assert caught.value.earliest == "2026-01-01T00:00:00.000Z"
        assert caught.value.latest == "2026-01-01T00:03:00.000Z"
        assert (caught.value.earliest_version, caught.value.latest_version) == (0, 3)

    @pytest.mark.parametrize(
        "arguments",
        [{"version": -1}, {"timestamp": "yesterday"}, {"version": 1, "timestamp": "2026-01-01 00:01:00"}],
    )
    def test_time_travel_that_makes_no_sense(self, table, arguments):
        with pytest.raises(exceptions.InvalidTimeTravelError):
            deltaic.Table(table.root, **arguments)

    def test_a_version_twice(self, table):
        with pytest.raises(exceptions.InvalidTimeTravelError, match="give one"):
            deltaic.Table(f"{table.root}@v1", version=1)

    def test_a_gap_is_named(self, table):
        (table.root / "_delta_log" / f"{1:020}.json").unlink()
        with pytest.raises(exceptions.LogGapError) as caught:
            pa.table(deltaic.Table(table.root).files())
        assert caught.value.version == 1

    def test_an_unknown_reader_feature_is_refused_by_name(self, table):
        features = {"readerFeatures": ["flyingCarpets"], "writerFeatures": ["flyingCarpets"]}
        table.commit({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}})
        with pytest.raises(exceptions.UnsupportedFeatureError) as caught:
            deltaic.Table(table.root)
        assert caught.value.features == ["flyingCarpets"]
        assert caught.value.role == "reader"

    def test_a_table_can_be_pickled(self, table):
        copy = pickle.loads(pickle.dumps(deltaic.Table(table.root, version=2)))
        assert (copy.version, copy.uri) == (2, str(table.root))


class TestProperties:
    def test_protocol_and_metadata(self, table):
        opened = deltaic.Table(table.root)
        assert (opened.protocol.min_reader_version, opened.protocol.min_writer_version) == (1, 2)
        assert opened.protocol.reader_features == ()
        assert opened.metadata.name == "hand-made"
        assert opened.metadata.created_time == datetime(2026, 1, 1, tzinfo=timezone.utc)
        assert opened.properties == {"delta.appendOnly": "false"}
        assert opened.partition_columns == ["day"]
        assert opened.timestamp == datetime(2026, 1, 1, 0, 3, tzinfo=timezone.utc)

    def test_the_schema(self, table):
        schema = deltaic.Table(table.root).schema
        assert schema.names == ["id", "day", "s"]
        assert [field.type for field in schema][:2] == ["long", "date"]
        assert json.loads(schema.json())["type"] == "struct"
        assert repr(schema).splitlines() == [
            "root",
            " |-- id: long (nullable = true)",
            " |-- day: date (nullable = true)",
            " |-- s: struct (nullable = true)",
            " |    |-- x: string (nullable = true)",
        ]
        exported = pa.schema(schema)
        assert exported.field("id").type == pa.int64()
        assert exported.field("s").type == pa.struct([("x", pa.string())])

    def test_repr_is_one_line(self, table):
        assert repr(deltaic.Table(table.root)) == f"<deltaic.Table {table.root} version 3>"

    def test_the_report_counts_what_was_read(self, table):
        opened = deltaic.Table(table.root)
        opened.files("day = DATE'2026-01-02'").__arrow_c_stream__()
        report = opened.report
        assert report["listed"] >= 4
        assert report["gets"] > 0
        assert report["bytes"] > 0
        assert report["files_pruned_by_partition"] == 1
        assert report["fallbacks"] == []


class TestFiles:
    def test_columns(self, table):
        files = pa.table(deltaic.Table(table.root).files())
        assert files.schema == pa.schema(
            [
                pa.field("path", pa.string(), nullable=False),
                pa.field("size", pa.int64(), nullable=False),
                pa.field("modification_time", pa.timestamp("ms", "UTC")),
                pa.field("partition_values", files.schema.field("partition_values").type, nullable=False),
                pa.field("deletion_vector", files.schema.field("deletion_vector").type),
            ]
        )
        assert {dict(v)["day"] for v in files["partition_values"].to_pylist()} == {"2026-01-01", "2026-01-02"}
        assert files["modification_time"].to_pylist() == [datetime(2026, 1, 1, tzinfo=timezone.utc)] * 2
        assert files["deletion_vector"].null_count == 2

    def test_statistics_come_when_asked_for(self, table):
        files = pa.table(deltaic.Table(table.root).files(stats=True))
        assert sorted(files["num_records"].to_pylist()) == [2, 4]
        assert {json.loads(s)["minValues"]["id"] for s in files["stats"].to_pylist()} == {10, 20}

    @pytest.mark.parametrize(
        ("where", "count"),
        [
            (None, 2),
            ("day = DATE'2026-01-02'", 1),
            ("day = '2026-01-02'", 1),
            ("day > DATE'2026-01-02'", 0),
            ("id < 15", 1),
            ("id BETWEEN 11 AND 20", 2),
            ("id = 15", 0),
            ("day = DATE'2026-01-01' AND upper(s.x) = 'NOT DECIDED'", 1),
            ("upper(s.x) = 'NOT DECIDED'", 2),
        ],
    )
    def test_files_that_cannot_match_are_left_out(self, table, where, count):
        opened = deltaic.Table(table.root)
        assert pa.table(opened.files(where)).num_rows == count
        assert opened.totals(where).files == count
        assert len(list(opened.file_list(where))) == count

    def test_an_unknown_column_is_named(self, table):
        with pytest.raises(exceptions.InvalidPredicateError, match="nope"):
            deltaic.Table(table.root).files("nope = 1")

    def test_each_export_is_a_new_scan(self, table):
        files = deltaic.Table(table.root).files()
        assert pa.table(files).num_rows == pa.table(files).num_rows == 2
        assert pa.schema(files).names == pa.table(files).schema.names

    def test_file_list_gives_dictionaries(self, table):
        (file,) = deltaic.Table(table.root).file_list("id = 10", stats=True)
        assert file["partition_values"] == {"day": "2026-01-01"}
        assert json.loads(file["stats"])["numRecords"] == 2
        assert set(file) == {
            "path",
            "size",
            "modification_time",
            "partition_values",
            "deletion_vector",
            "stats",
        }


class TestRows:
    def test_all_of_them(self, table):
        found = rows(deltaic.Table(table.root).to_arrow())
        assert [row["id"] for row in found] == [10, 11, 20, 21, 22, 23]
        assert found[0] == {"id": 10, "day": date(2026, 1, 1), "s": {"x": "x10"}}

    def test_an_older_version(self, table):
        assert ids(deltaic.Table(table.root, version=1).to_arrow()) == [1, 2, 3, 10, 11]
        assert ids(deltaic.Table(table.root, version=0).to_arrow()) == []

    def test_columns_in_the_order_asked_for(self, table):
        assert pa.table(deltaic.Table(table.root).to_arrow(["day", "id"])).column_names == ["day", "id"]

    def test_an_unknown_column(self, table):
        with pytest.raises(exceptions.InvalidArgumentError, match="nope"):
            deltaic.Table(table.root).to_arrow(["nope"])

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            ("id >= 21 AND day = DATE'2026-01-02'", [21, 22, 23]),
            ("s.x = 'x11' OR id = 20", [11, 20]),
            ("NOT id IN (10, 11, 20, NULL)", []),
            ("s.x LIKE 'x2%' AND id <> 22", [20, 21, 23]),
            ("upper(s.x) = 'X11' OR id % 10 = 0", [10, 11, 20]),
            ("day = DATE'2026-01-02' AND length(s.x) + id > 24", [22, 23]),
            ("CAST(substring(s.x, 2) AS INT) = id AND id * 2.0D <= 22", [10, 11]),
        ],
    )
    def test_exactly_the_rows_for_which_it_is_true(self, table, where, expected):
        assert ids(deltaic.Table(table.root).to_arrow(["id"], where)) == expected

    def test_a_condition_that_cannot_be_evaluated_is_refused(self, table):
        opened = deltaic.Table(table.root)
        refused = {"madeup(s.x) = 'X'": "madeup", "upper(nope) = 'X'": "nope", "id + 1": "not boolean"}
        for where, said in refused.items():
            with pytest.raises(exceptions.InvalidExpressionError, match=said):
                opened.to_arrow(where=where)
        with pytest.raises(exceptions.InvalidExpressionError, match=r"'x\d+' cannot be cast"):
            pa.table(opened.to_arrow(where="CAST(s.x AS INT) > 1"))

    def test_a_missing_data_file_is_a_typed_error(self, table):
        opened = deltaic.Table(table.root)
        for path in table.root.glob("day=2026-01-02/*"):
            path.unlink()
        with pytest.raises(exceptions.DataFileError) as caught:
            pa.table(opened.to_arrow())
        assert "day=2026-01-02" in caught.value.path


class TestHistory:
    def test_newest_first_in_the_columns_of_describe_history(self, table):
        history = deltaic.Table(table.root).history()
        assert [commit["version"] for commit in history] == [3, 2, 1, 0]
        assert [commit["operation"] for commit in history] == ["DELETE", "WRITE", "WRITE", "CREATE TABLE"]
        assert history[1]["timestamp"] == datetime(2026, 1, 1, 0, 2, tzinfo=timezone.utc)
        assert history[1]["operationParameters"] == {"mode": "Append"}
        assert history[1]["engineInfo"] == "hand"
        assert history[0]["userName"] is None

    def test_a_limit(self, table):
        assert [commit["version"] for commit in deltaic.Table(table.root).history(2)] == [3, 2]

    def test_only_up_to_the_version(self, table):
        assert [commit["version"] for commit in deltaic.Table(table.root, version=1).history()] == [1, 0]

    def test_what_a_commit_did(self, table):
        opened = deltaic.Table(table.root)
        assert opened.commit(1)["adds"] == 2
        assert opened.commit(3)["removes"] == 1
        assert opened.commit(0)["metadata"]["name"] == "hand-made"
        with pytest.raises(exceptions.NotFoundError):
            opened.commit(4)


class TestUpdate:
    def test_it_moves_to_the_newest_version(self, table):
        opened = deltaic.Table(table.root, version=2)
        assert ids(opened.to_arrow(["id"])) == [1, 2, 3, 10, 11, 20, 21, 22, 23]
        table.commit(table.add("2026-01-03", [30]))
        assert opened.version == 2
        assert opened.update() is opened
        assert opened.version == 4
        assert ids(opened.to_arrow(["id"])) == ids(deltaic.Table(table.root).to_arrow(["id"]))

    def test_a_stream_stays_at_its_version(self, table):
        opened = deltaic.Table(table.root)
        before = opened.to_arrow(["id"])
        table.commit(table.add("2026-01-03", [30]))
        opened.update()
        assert 30 not in ids(before)
