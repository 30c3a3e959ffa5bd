"""`alter` and `properties`: each command on a real table, and what it says when it cannot."""

import json

import pyarrow as pa
import pytest
from command_line import document, output, process

import deltaic


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "t"
    rows = pa.table(
        {"id": pa.array([1, 2], pa.int64()), "name": ["a", "b"], "n": pa.array([1, 2], pa.int32())}
    )
    deltaic.write(root, rows)
    return root


@pytest.fixture
def mapped(root):
    deltaic.Table(root).set_properties({"delta.columnMapping.mode": "name"})
    return root


def columns(root):
    return [(f.name, f.type, f.nullable) for f in deltaic.Table(root).schema]


def test_properties_are_set_listed_and_taken_away(root):
    assert document("alter", "set-properties", root, "delta.appendOnly=true", "owner=me=you") == {
        "format": 1,
        "version": 1,
    }
    assert document("properties", root) == {"delta.appendOnly": "true", "owner": "me=you"}
    assert output("properties", root).split() == ["delta.appendOnly", "true", "owner", "me=you"]
    assert output("alter", "unset-properties", root, "owner") == "version 2\n"
    assert document("properties", root) == {"delta.appendOnly": "true"}
    assert document("properties", f"{root}@v0") == {}
    done = process("alter", "unset-properties", root, "owner")
    assert (done.returncode, done.stderr.startswith("deltaic: owner")) == (2, True)
    assert document("alter", "unset-properties", root, "owner", "--if-exists") == {"format": 1, "version": 2}


def test_a_wrong_property_is_refused(root):
    assert process("alter", "set-properties", root, "delta.apendOnly=true").returncode == 2
    done = process("alter", "set-properties", root, "nonsense")
    assert (done.returncode, "not KEY=VALUE" in done.stderr) == (2, True)


def test_columns_are_added_where_they_are_wanted(root):
    output("alter", "add-columns", root, "z DECIMAL(5,1) COMMENT 'last', s STRUCT<x: INT>")
    output("alter", "add-columns", root, "first DATE", "--first")
    output("alter", "add-columns", root, "y ARRAY<STRING>", "--parent", "s", "--after", "x")
    assert [c[:1] for c in columns(root)] == [("first",), ("id",), ("name",), ("n",), ("z",), ("s",)]
    schema = deltaic.Table(root).schema
    assert schema.fields[4].metadata == {"comment": "last"}
    assert [f["name"] for f in schema.fields[5].type["fields"]] == ["x", "y"]
    done = process("alter", "add-columns", root, "id INT")
    assert (done.returncode, "`id`" in done.stderr) == (2, True)
    done = process("alter", "add-columns", root, "id NONSENSE TYPE")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


def test_columns_are_renamed_and_dropped_under_column_mapping(mapped):
    output("alter", "rename-column", mapped, "name", "a.b")
    assert document("alter", "drop-columns", mapped, "`a.b`", "n")["version"] == 3
    assert columns(mapped) == [("id", "long", True)]
    assert pa.table(deltaic.Table(mapped).to_arrow()).to_pydict() == {"id": [1, 2]}


def test_without_column_mapping_the_answer_says_what_to_do(root):
    done = process("alter", "drop-columns", root, "n")
    assert done.returncode == 2
    assert "delta.columnMapping.mode" in done.stderr


def test_a_column_changes(root):
    output("alter", "set-properties", root, "delta.enableTypeWidening=true")
    output("alter", "change-column", root, "n", "--type", "BIGINT", "--comment", "how many", "--after", "id")
    field = deltaic.Table(root).schema.fields[1]
    assert (field.name, field.type, field.metadata["comment"]) == ("n", "long", "how many")
    output("alter", "change-column", root, "n", "--comment", "", "--first")
    assert "comment" not in deltaic.Table(root).schema.fields[0].metadata
    assert process("alter", "change-column", root, "n", "--type", "STRING").returncode == 2
    assert process("alter", "change-column", root, "n", "--first", "--after", "id").returncode == 2


def test_constraints(root):
    assert document("alter", "add-constraint", root, "positive", "id > 0") == {"format": 1, "version": 1}
    done = process("alter", "add-constraint", root, "big", "id > 1")
    assert (done.returncode, "`id > 1` does not hold for id = 1" in done.stderr) == (2, True)
    output("alter", "drop-constraint", root, "positive")
    assert document("properties", root) == {}
    assert process("alter", "drop-constraint", root, "positive").returncode == 2
    output("alter", "drop-constraint", root, "positive", "--if-exists")


def test_a_feature_is_added(root):
    output("alter", "add-feature", root, "deletionVectors")
    assert "deletionVectors" in deltaic.Table(root).protocol.writer_features
    assert process("alter", "add-feature", root, "timeMachine").returncode == 2


def test_an_error_is_a_document_with_json(root):
    done = process("alter", "drop-columns", root, "n", "--json")
    error = json.loads(done.stdout)["error"]
    assert (error["kind"], error["column"]) == ("InvalidColumnChange", "n")
    assert done.stderr.startswith("deltaic: column `n`")


def test_a_feature_goes_and_its_history_with_it_or_behind_checkpoints(root):
    output("alter", "set-properties", root, "delta.enableDeletionVectors=true")
    output("delete", root, "--where", "id = 1", "--yes")
    done = process("alter", "drop-feature", root, "deletionVectors", "--truncate-history")
    assert (done.returncode, "Drop it again after 20" in done.stderr) == (1, True)
    version = document("alter", "drop-feature", root, "deletionVectors")["version"]
    table = deltaic.Table(root)
    assert (table.version, "deletionVectors" in table.protocol.writer_features) == (version, False)
    assert pa.table(table.to_arrow())["id"].to_pylist() == [2]
    done = process("alter", "drop-feature", root, "appendOnly")
    assert (done.returncode, "cannot be dropped" in done.stderr) == (2, True)
