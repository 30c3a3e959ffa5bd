"""Changes of what a table is: rows that were written before them read right, and a refusal changes nothing."""

import json
from datetime import datetime, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic import exceptions

DATA = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int32()),
        "name": ["a", "b", None],
        "s": [{"x": 1}, None, {"x": 3}],
    }
)


@pytest.fixture
def table(tmp_path):
    deltaic.write(tmp_path / "t", DATA)
    return deltaic.Table(tmp_path / "t")


@pytest.fixture
def mapped(table):
    table.set_properties({"delta.columnMapping.mode": "name"})
    return table.update()


def rows(table, columns=None, where=None):
    return pa.table(table.update().to_arrow(columns, where)).sort_by("id").to_pydict()


def test_properties(table):
    assert table.set_properties({"delta.appendOnly": "true", "mine": "1"}) == 1
    assert table.properties == {}
    assert table.update().properties == {"delta.appendOnly": "true", "mine": "1"}
    assert table.unset_properties("mine") == 2
    with pytest.raises(exceptions.InvalidArgumentError, match="mine"):
        table.unset_properties(["mine"])
    assert table.unset_properties(["mine"], if_exists=True) == 2
    with pytest.raises(exceptions.InvalidArgumentError, match=r"delta\.no"):
        table.set_properties({"delta.no": "1"})
    assert table.update().version == 2
    assert [c["operation"] for c in table.history()][:2] == ["UNSET TBLPROPERTIES", "SET TBLPROPERTIES"]


def test_a_feature(table):
    assert table.add_feature("deletionVectors") == 1
    assert "deletionVectors" in table.update().protocol.reader_features
    with pytest.raises(exceptions.InvalidArgumentError, match="telepathy"):
        table.add_feature("telepathy")


def test_row_tracking_of_a_table_with_files(table):
    deltaic.write(table.uri, DATA)
    assert table.set_properties({"delta.enableRowTracking": "true"}) == 4
    assert [c["operation"] for c in table.update().history(3)] == [
        "SET TBLPROPERTIES",
        "ROW TRACKING BACKFILL",
        "UPGRADE PROTOCOL",
    ]
    log = Path(table.uri.removeprefix("file://")) / "_delta_log" / f"{3:020}.json"
    adds = [json.loads(line)["add"] for line in log.read_text().splitlines() if '"add"' in line]
    assert sorted(add["baseRowId"] for add in adds) == [0, 3]
    assert {add["path"] for add in adds} == {file["path"] for file in table.file_list()}
    assert rows(table)["id"] == [1, 1, 2, 2, 3, 3]
    assert table.verify(deep=True).findings == []


def test_rows_from_before_new_columns(table):
    table.add_columns({"n": "long", "d": "decimal(10,2)"}, first=True)
    table.add_columns({"y": "string"}, parent="s", first=True)
    table.add_columns({"t": {"type": "array", "elementType": "string", "containsNull": True}}, after="id")
    assert table.update().schema.names == ["n", "d", "id", "t", "name", "s"]
    found = rows(table)
    assert found["id"] == [1, 2, 3]
    assert found["n"] == found["d"] == found["t"] == [None] * 3
    assert found["s"] == [{"y": None, "x": 1}, None, {"y": None, "x": 3}]
    new = pa.table({"id": pa.array([4], pa.int32()), "n": [40]})
    deltaic.write(table.uri, new)
    assert rows(table, where="n = 40")["id"] == [4]
    assert rows(table, where="n IS NULL")["id"] == [1, 2, 3]


def test_rows_from_before_a_rename(mapped):
    assert mapped.rename_column("name", "title") == 2
    mapped.rename_column(["s", "x"], "deep")
    found = rows(mapped)
    assert found["title"] == ["a", "b", None]
    assert found["s"] == [{"deep": 1}, None, {"deep": 3}]
    assert rows(mapped, where="title = 'b'")["id"] == [2]
    deltaic.write(mapped.uri, pa.table({"id": pa.array([4], pa.int32()), "title": ["d"]}))
    assert rows(mapped)["title"] == ["a", "b", None, "d"]


def test_a_column_of_the_name_of_a_dropped_one_is_empty(mapped):
    mapped.drop_columns("name")
    assert mapped.update().schema.names == ["id", "s"]
    mapped.add_columns({"name": "string"})
    assert rows(mapped)["name"] == [None] * 3
    assert rows(mapped, where="name = 'a'")["id"] == []
    deltaic.write(mapped.uri, pa.table({"id": pa.array([4], pa.int32()), "name": ["d"]}))
    assert rows(mapped)["name"] == [None, None, None, "d"]
    assert pa.table(deltaic.Table(mapped.uri, version=1).to_arrow()).column("name").to_pylist() == [
        "a",
        "b",
        None,
    ]


def test_columns_are_replaced(table):
    assert table.replace_columns("name STRING COMMENT 'who', more DATE, ID INT, s STRUCT<x: BIGINT>") == 1
    assert table.update().schema.names == ["name", "more", "id", "s"]
    assert rows(table)["name"] == ["a", "b", None]
    assert rows(table)["more"] == [None] * 3
    with pytest.raises(exceptions.InvalidColumnChangeError, match="needs column mapping"):
        table.replace_columns({"id": "integer"})
    table.set_properties({"delta.columnMapping.mode": "name"})
    table.replace_columns({"id": "integer", "name": "string"})
    assert rows(table) == {"id": [1, 2, 3], "name": ["a", "b", None]}
    with pytest.raises(exceptions.InvalidColumnChangeError, match="`name` dropped at once"):
        table.replace_columns({"id": "integer", "title": "string"})


def test_names_change_hands(mapped):
    for old, new in [("id", "spare"), ("name", "id"), ("spare", "name")]:
        mapped.rename_column(old, new)
    found = pa.table(mapped.update().to_arrow()).sort_by("name")
    assert found["name"].to_pylist() == [1, 2, 3]
    assert found["id"].to_pylist() == ["a", "b", None]


def test_rows_from_before_a_wider_type(table):
    with pytest.raises(exceptions.InvalidColumnChangeError):
        table.change_column("id", data_type="long")
    table.set_properties({"delta.enableTypeWidening": "true"})
    table.change_column("id", data_type="long")
    deltaic.write(table.uri, pa.table({"id": pa.array([2**40], pa.int64())}))
    assert rows(table)["id"] == [1, 2, 3, 2**40]
    assert rows(table, where="id > 2")["id"] == [3, 2**40]


def test_comment_and_place(table):
    table.change_column("name", comment="who", first=True)
    field = table.update().schema.fields[0]
    assert (field.name, field.metadata) == ("name", {"comment": "who"})
    table.change_column("name", comment="", after="s")
    field = table.update().schema.fields[-1]
    assert (field.name, field.metadata) == ("name", {})
    assert rows(table)["name"] == ["a", "b", None]
    with pytest.raises(exceptions.InvalidArgumentError):
        table.change_column("name", first=True, after="id")


def test_nullability_is_only_loosened(tmp_path):
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False)])
    deltaic.write(tmp_path, pa.table({"id": [1]}, schema=schema))
    table = deltaic.Table(tmp_path)
    table.change_column("id", nullable=True)
    deltaic.write(tmp_path, pa.table({"id": pa.array([None], pa.int64())}))
    with pytest.raises(exceptions.InvalidColumnChangeError):
        table.change_column("id", nullable=False)


def test_a_constraint(table):
    with pytest.raises(exceptions.InvariantViolationError) as caught:
        table.add_constraint("c", "id < 3")
    assert caught.value.row == "id = 3"
    assert table.update().version == 0
    assert table.add_constraint("c", "id < 4 AND (name IS NULL OR length(name) = 1)") == 1
    assert table.drop_constraint("C") == 2
    with pytest.raises(exceptions.InvalidArgumentError):
        table.drop_constraint("c")
    assert table.drop_constraint("c", if_exists=True) == 2


def test_an_empty_text_of_a_partition_column_is_null_to_a_constraint(tmp_path):
    data = pa.table({"id": [1], "p": ["x"]})
    deltaic.write(tmp_path / "p", data, partition_by=["p"])
    table = deltaic.Table(tmp_path / "p")
    table.add_constraint("c", "p IS NOT NULL")
    empty = pa.table({"id": [2], "p": [""]})
    with pytest.raises(exceptions.InvariantViolationError):
        deltaic.write(tmp_path / "p", empty)
    table.drop_constraint("c")
    table.add_constraint("d", "p IS NULL OR p > ''")
    deltaic.write(tmp_path / "p", empty)
    assert rows(table.update())["p"] == ["x", None]


@pytest.mark.parametrize("limited", ["CHAR(4)", "VARCHAR(4)"])
def test_a_text_loses_its_length(tmp_path, limited):
    deltaic.create(tmp_path / "l", f"c {limited}")
    table, longer = deltaic.Table(tmp_path / "l"), pa.table({"c": ["12345"]})
    with pytest.raises(exceptions.DeltaError):
        deltaic.write(tmp_path / "l", longer)
    table.change_column("c", data_type="string")
    deltaic.write(tmp_path / "l", longer)
    assert pa.table(table.update().to_arrow()).to_pydict() == {"c": ["12345"]}


def test_a_feature_is_dropped(table):
    table.set_properties({"delta.enableDeletionVectors": "true"})
    table.delete("id = 2")
    with pytest.raises(exceptions.FeatureInHistoryError) as caught:
        table.drop_feature("deletionVectors", truncate_history=True)
    assert datetime.fromisoformat(caught.value.come_again.replace("Z", "+00:00")) > datetime.now(timezone.utc)
    assert caught.value.clean_from <= table.update().version
    assert "deletionVectors" in table.protocol.reader_features
    assert table.drop_feature("deletionVectors") == table.update().version
    assert table.protocol.reader_features == ()
    assert "checkpointProtection" in table.protocol.writer_features
    assert rows(table)["id"] == [1, 3]
    with pytest.raises(exceptions.InvalidFeatureChangeError) as refused:
        table.drop_feature("deletionVectors")
    assert refused.value.feature == "deletionVectors"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda t: t.drop_columns("name"), exceptions.InvalidColumnChangeError),
        (lambda t: t.rename_column("name", "n"), exceptions.InvalidColumnChangeError),
        (lambda t: t.rename_column("no", "n"), exceptions.InvalidColumnChangeError),
        (lambda t: t.add_columns({"NAME": "long"}), exceptions.InvalidColumnChangeError),
        (lambda t: t.add_columns({"v": "varchar(3)"}), exceptions.InvalidSchemaError),
        (lambda t: t.add_columns({"v": "text"}), exceptions.InvalidSchemaError),
        (lambda t: t.add_columns({"v": "long"}, after="no"), exceptions.InvalidColumnChangeError),
        (lambda t: t.add_columns({"v": "timestamp_ntz"}), exceptions.InvalidFeatureChangeError),
        (lambda t: t.change_column("name", data_type="long"), exceptions.InvalidColumnChangeError),
    ],
)
def test_a_refusal_changes_nothing(table, change, error):
    with pytest.raises(error):
        change(table)
    assert table.update().version == 0


def test_each_change_has_its_note(mapped, tmp_path):
    deltaic.Table(mapped.uri).shallow_clone(tmp_path / "copy", user_metadata="why")
    (tmp_path / "folder").mkdir()
    pq.write_table(DATA, tmp_path / "folder" / "rows.parquet")
    deltaic.convert(tmp_path / "folder", user_metadata="why")
    for change in (
        lambda t: t.set_properties({"k": "v"}, user_metadata="why"),
        lambda t: t.unset_properties("k", user_metadata="why"),
        lambda t: t.add_columns({"n": "long"}, user_metadata="why"),
        lambda t: t.change_column("n", comment="a number", user_metadata="why"),
        lambda t: t.rename_column("n", "m", user_metadata="why"),
        lambda t: t.replace_columns(
            "m BIGINT, id INT, name STRING, s STRUCT<x: BIGINT>", user_metadata="why"
        ),
        lambda t: t.drop_columns("m", user_metadata="why"),
        lambda t: t.add_constraint("above", "id > 0", user_metadata="why"),
        lambda t: t.drop_constraint("above", user_metadata="why"),
        lambda t: t.cluster_by(["id"], user_metadata="why"),
        lambda t: t.add_feature("deletionVectors", user_metadata="why"),
        lambda t: t.drop_feature("deletionVectors", user_metadata="why"),
        # two commits before that of the property
        lambda t: t.set_properties({"delta.enableRowTracking": "true"}, user_metadata="why"),
        lambda t: t.restore(0, user_metadata="why"),
        lambda t: t.vacuum(user_metadata="why"),
    ):
        before = mapped.update().version
        change(mapped)
        assert mapped.update().version > before
    for path in (mapped.uri, tmp_path / "copy", tmp_path / "folder"):
        made = [
            entry for entry in deltaic.Table(path).history() if entry["version"] > 1 or path != mapped.uri
        ]
        assert made
        assert [entry["operation"] for entry in made if entry.get("userMetadata") != "why"] == []


def test_the_mark_of_an_identity_goes_to_the_farthest_value(tmp_path):
    path = tmp_path / "t"
    made = {"delta.identity.start": 1, "delta.identity.step": 2, "delta.identity.allowExplicitInsert": True}
    columns = [("id", "long", made), ("v", "integer", {})]
    fields = [{"name": n, "type": t, "nullable": True, "metadata": m} for n, t, m in columns]
    deltaic.create(path, {"type": "struct", "fields": fields})
    table = deltaic.Table(path)
    deltaic.write(path, pa.table({"id": [4, 2], "v": pa.array([1, 2], pa.int32())}))
    assert table.sync_identity("ID") == 2
    assert table.update().schema.fields[0].metadata["delta.identity.highWaterMark"] == 5
    table.delete("id = 4")
    assert table.sync_identity("id") == 4
    assert table.update().schema.fields[0].metadata["delta.identity.highWaterMark"] == 5
    assert table.sync_identity("id", allow_lower=True, user_metadata="back") == 5
    assert table.update().schema.fields[0].metadata["delta.identity.highWaterMark"] == 3
    assert table.history(1)[0]["userMetadata"] == "back"
    for column, said in (("v", "not an identity column"), ("nope", "no such column")):
        with pytest.raises(exceptions.InvalidColumnChangeError, match=said):
            table.sync_identity(column)
