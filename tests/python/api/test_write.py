"""`deltaic.write`: modes, partitions, and a table that stays as it was when a write fails."""

import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic import exceptions

DATA = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "name": ["a", "b", None]})
OTHER = pa.table({"id": ["text"], "name": ["x"]})


def state(root):
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


@pytest.fixture
def root(tmp_path):
    return tmp_path / "a table"


def count(root):
    return pa.table(deltaic.Table(root).to_arrow()).num_rows


def test_append_creates_and_appends(root):
    first = deltaic.write(root, DATA)
    assert (first.version, first.created, first.skipped, first.rows) == (0, True, False, 3)
    second = deltaic.write(str(root), DATA, mode="append")
    assert (second.version, second.created) == (1, False)
    assert count(root) == 6


def test_errorifexists(root):
    deltaic.write(root, DATA, mode="errorifexists")
    before = state(root)
    with pytest.raises(exceptions.TableAlreadyExistsError) as caught:
        deltaic.write(root, DATA, mode="errorifexists")
    assert caught.value.version == 0
    assert state(root) == before


def test_ignore(root):
    assert not deltaic.write(root, DATA, mode="ignore").skipped
    before = state(root)
    assert deltaic.write(root, DATA, mode="ignore").skipped
    assert state(root) == before


def test_a_mode_that_is_none(root):
    with pytest.raises(ValueError, match="upsert") as caught:
        deltaic.write(root, DATA, mode="upsert")
    assert isinstance(caught.value, exceptions.DeltaError)
    assert not root.exists()


@pytest.mark.parametrize("partition_by", ["name", ["name"], ("name",)])
def test_partitions(root, partition_by):
    deltaic.write(root, DATA, partition_by=partition_by)
    table = deltaic.Table(root)
    assert table.partition_columns == ["name"]
    assert pa.table(table.files("name IS NULL")).num_rows == 1
    assert pa.table(table.to_arrow(["id"], "name = 'b'")).to_pydict() == {"id": [2]}


def test_name_description_and_properties(root):
    deltaic.write(
        root, DATA, name="n", description="d", configuration={"delta.appendOnly": "true"}, user_metadata="why"
    )
    table = deltaic.Table(root)
    assert (table.metadata.name, table.metadata.description) == ("n", "d")
    assert table.properties == {"delta.appendOnly": "true"}
    assert table.history()[0]["userMetadata"] == "why"


def test_an_application_transaction_is_written_once(root):
    assert not deltaic.write(root, DATA, app_transaction=("loader", 7)).skipped
    assert deltaic.write(root, DATA, app_transaction=("loader", 7)).skipped
    assert not deltaic.write(root, DATA, app_transaction=("loader", 8)).skipped
    assert count(root) == 6


def test_data_that_does_not_fit_leaves_the_table_as_it_was(root):
    deltaic.write(root, DATA)
    before = state(root)
    with pytest.raises(exceptions.SchemaMismatchError, match="id"):
        deltaic.write(root, OTHER)
    assert state(root) == before


def test_a_source_that_fails_leaves_the_table_as_it_was(root):
    deltaic.write(root, DATA)
    before = state(root)

    def batches():
        yield from DATA.to_batches()
        raise RuntimeError("the source broke")

    with pytest.raises(exceptions.DeltaError, match="the source broke"):
        deltaic.write(root, pa.RecordBatchReader.from_batches(DATA.schema, batches()))
    assert state(root) == before


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_between_batches_leaves_the_table_as_it_was(root):
    import signal

    deltaic.write(root, DATA)
    before = state(root)

    def batches():
        yield from DATA.to_batches()
        signal.raise_signal(signal.SIGINT)
        yield from DATA.to_batches() * 1000

    with pytest.raises(KeyboardInterrupt):
        deltaic.write(root, pa.RecordBatchReader.from_batches(DATA.schema, batches()))
    assert state(root) == before


class TestOverwrite:
    @pytest.fixture
    def days(self, root):
        deltaic.write(root, pa.table({"day": ["mo", "mo", "tu"], "id": [1, 2, 3]}), partition_by="day")
        return root

    def rows(self, root):
        read = pa.table(deltaic.Table(root).to_arrow()).sort_by("id").to_pydict()
        return list(zip(read["day"], read["id"], strict=True))

    def test_all_of_it(self, days):
        result = deltaic.write(days, pa.table({"day": ["we"], "id": [4]}), mode="overwrite")
        assert (result.version, result.files, result.removed) == (1, 1, 2)
        assert self.rows(days) == [("we", 4)]

    def test_by_a_condition(self, days):
        data = pa.table({"day": ["mo"], "id": [9]})
        deltaic.write(days, data, mode="overwrite", replace_where="day = 'mo' AND id > 1")
        assert self.rows(days) == [("mo", 1), ("tu", 3), ("mo", 9)]
        with pytest.raises(exceptions.ReplaceWhereMismatchError) as caught:
            deltaic.write(days, data, mode="overwrite", replace_where="day = 'tu'")
        assert caught.value.row == "day = mo"
        assert isinstance(caught.value, ValueError)

    @pytest.mark.parametrize("vectors", ["true", "false"])
    def test_by_a_condition_with_row_ids_and_changes(self, root, vectors):
        properties = {
            "delta.enableDeletionVectors": vectors,
            "delta.enableChangeDataFeed": "true",
            "delta.enableRowTracking": "true",
        }
        data = pa.table({"day": ["mo"] * 4, "id": [1, 2, 3, 4]})
        deltaic.write(root, data, configuration=properties)
        new = pa.table({"day": ["tu"], "id": [3]})
        done = deltaic.write(root, new, mode="overwrite", replace_where="id >= 3")
        assert self.rows(root) == [("mo", 1), ("mo", 2), ("tu", 3)]
        table = deltaic.Table(root)
        metrics = table.history(1)[0]["operationMetrics"]
        changes = 0 if vectors == "true" else 2
        # rows that stay beside marked ones count as copied
        assert (metrics["numDeletedRows"], metrics["numCopiedRows"]) == ("2", "2")
        assert (metrics["numOutputRows"], metrics["numAddedChangeFiles"]) == ("3", str(changes))
        assert done.removed == (0 if vectors == "true" else 1)
        assert table.totals().deleted_rows == (2 if vectors == "true" else 0)
        fed = [row for file in root.glob("_change_data/*") for row in pq.ParquetFile(file).read().to_pylist()]
        expected = [("delete", 3), ("delete", 4), ("insert", 3)] if changes else []
        assert sorted((row["_change_type"], row["id"]) for row in fed) == expected

    def test_the_partitions_of_the_data(self, days):
        data = pa.table({"day": ["tu"], "id": [9]})
        deltaic.write(days, data, mode="overwrite", partition_overwrite="dynamic")
        assert self.rows(days) == [("mo", 1), ("mo", 2), ("tu", 9)]

    @pytest.mark.parametrize(
        "options",
        [
            {"mode": "append", "replace_where": "id = 1"},
            {"mode": "overwrite", "partition_overwrite": "sometimes"},
            {"mode": "overwrite", "replace_where": "id = 1", "partition_overwrite": "dynamic"},
        ],
    )
    def test_what_makes_no_sense(self, days, options):
        with pytest.raises(exceptions.InvalidArgumentError):
            deltaic.write(days, pa.table({"day": ["tu"], "id": [1]}), **options)


# an array without values has no offsets in the memory that it names
_NOTHING = pa.py_buffer(b"\xc8\x03\xff\xf0" * 16).slice(0, 0)
_NO_TEXTS = pa.StringArray.from_buffers(0, _NOTHING, _NOTHING)
_NO_LISTS = pa.ListArray.from_buffers(pa.list_(pa.string()), 0, [None, _NOTHING], children=[_NO_TEXTS])
_NO_BYTES = pa.LargeBinaryArray.from_buffers(pa.large_binary(), 0, [None, _NOTHING, _NOTHING])
_NO_OFFSETS = pa.array([0, 0, 0, 0], pa.int32())


@pytest.mark.parametrize("partition_by", [None, "p"])
@pytest.mark.parametrize(
    "column",
    [
        pa.ListArray.from_arrays(_NO_OFFSETS, _NO_TEXTS),
        pa.ListArray.from_arrays(_NO_OFFSETS, _NO_LISTS),
        pa.ListArray.from_arrays(_NO_OFFSETS, _NO_BYTES),
        pa.MapArray.from_arrays(_NO_OFFSETS, _NO_TEXTS, _NO_LISTS),
        pa.StructArray.from_arrays([pa.ListArray.from_arrays(_NO_OFFSETS, _NO_TEXTS)], ["l"]),
    ],
    ids=lambda column: str(column.type),
)
def test_lists_and_maps_without_elements(tmp_path, column, partition_by):
    """Arrow's format lets an array of no values have no offsets."""
    rows = pa.table({"p": ["a", "b", "a"], "c": column})
    deltaic.write(tmp_path / "t", rows, partition_by=partition_by)
    deltaic.write(tmp_path / "t", rows.to_batches()[0], mode="append")
    deltaic.write(tmp_path / "t", rows.slice(0, 0), mode="append")
    written = pa.table(deltaic.Table(tmp_path / "t").to_arrow(["c"]))
    assert written["c"].to_pylist() == column.to_pylist() * 2
    merged = deltaic.Table(tmp_path / "t").merge(rows.slice(1), on=["p"]).when_matched_update_all().execute()
    assert merged.updated_rows == 6
    assert pa.table(deltaic.Table(tmp_path / "t").to_arrow(["c"])) == written


def test_polars_columns_of_nulls(tmp_path):
    """Polars gives them a buffer that Arrow's format has none of."""
    deltaic.write(tmp_path / "t", polars.DataFrame({"n": [1], "a": ["x"], "s": [{"u": 1}], "l": [["a"]]}))
    nulls = polars.DataFrame({"n": [2, 3], "a": [None, None], "s": [{"u": None}, None], "l": [[None], []]})
    assert nulls.schema["a"] == polars.Null
    deltaic.write(tmp_path / "t", nulls, mode="append")
    merge = deltaic.Table(tmp_path / "t").merge(nulls, on=["n"])
    assert merge.when_matched_update_all().execute().updated_rows == 2
    assert pa.table(deltaic.Table(tmp_path / "t").to_arrow()).sort_by("n").to_pylist() == [
        {"n": 1, "a": "x", "s": {"u": 1}, "l": ["a"]},
        {"n": 2, "a": None, "s": {"u": None}, "l": [None]},
        {"n": 3, "a": None, "s": None, "l": []},
    ]
    deltaic.write(tmp_path / "new", nulls.select("n", "a"))
    assert [field.type for field in deltaic.Table(tmp_path / "new").schema.fields] == ["long", "void"]


_VALUES = pa.array([None, None, 3, 4, None, None], pa.int64())
# a field that has no nulls by its type
_SOLID = pa.StructArray.from_arrays([_VALUES], fields=[pa.field("x", pa.int64(), nullable=False)])
_PAIRS, _SINGLES = pa.array([0, 2, 4, 6], pa.int32()), pa.array(range(7), pa.int32())
_BELOW = {
    "struct": lambda mask: pa.StructArray.from_arrays(
        [_SOLID], fields=[pa.field("s", _SOLID.type, nullable=False)], mask=mask
    ),
    "list in a struct": lambda mask: pa.StructArray.from_arrays(
        [pa.ListArray.from_arrays(_SINGLES, _SOLID)], ["l"], mask=mask
    ),
    "list of a fixed size": lambda mask: pa.FixedSizeListArray.from_arrays(_SOLID, 2, mask=mask),
    "list": lambda mask: pa.ListArray.from_arrays(_PAIRS, _SOLID, mask=mask),
    "map": lambda mask: pa.MapArray.from_arrays(_PAIRS, pa.array(range(6)), _SOLID, mask=mask),
}


@pytest.mark.parametrize("partition_by", [None, "p"])
@pytest.mark.parametrize("kind", _BELOW)
def test_nulls_below_nulls(tmp_path, kind, partition_by):
    """What is below a null does not count, and what is below a value does."""

    def rows(*, hides_all: bool) -> pa.Table:
        mask = [True, True, False, False, True, hides_all] if "struct" in kind else [True, False, hides_all]
        column = _BELOW[kind](pa.array(mask))
        kinds = pa.schema([("p", pa.string()), ("c", column.type)])
        return pa.table([["a", "b", "a", "c", "b", "b"][: len(column)], column], schema=kinds)

    hidden = rows(hides_all=True)
    deltaic.write(tmp_path / "t", hidden, partition_by=partition_by)
    written = pa.table(deltaic.Table(tmp_path / "t").to_arrow(["p", "c"]))
    assert sorted(written.to_pylist(), key=str) == sorted(hidden.to_pylist(), key=str)
    with pytest.raises(exceptions.SchemaMismatchError, match=r"`c\..*x` must not be null"):
        deltaic.write(tmp_path / "t", rows(hides_all=False), mode="append")


class TestArrowSchemas:
    def test_a_table_is_created_of_one(self, tmp_path):
        kinds = [
            ("id", pa.int64(), False),
            ("name", pa.large_string(), True),
            ("at", pa.timestamp("ns", "Europe/Oslo"), True),
            ("price", pa.decimal128(9, 2), True),
            ("tags", pa.list_(pa.dictionary(pa.int8(), pa.string())), True),
            ("place", pa.struct([("x", pa.float32()), ("y", pa.float32())]), True),
        ]
        schema = pa.schema([pa.field(*kind) for kind in kinds])
        deltaic.create(tmp_path / "t", schema, partition_by="id")
        # a write of such rows makes the same table
        deltaic.write(tmp_path / "w", schema.empty_table())
        created = deltaic.Table(tmp_path / "t")
        assert created.schema.json() == deltaic.Table(tmp_path / "w").schema.json()
        assert [(f.type, f.nullable) for f in created.schema.fields][:3] == [
            ("long", False),
            ("string", True),
            ("timestamp", True),
        ]
        assert created.partition_columns == ["id"]
        deltaic.write(tmp_path / "t", schema.empty_table(), mode="append")

    def test_the_schema_of_another_table_is_one(self, tmp_path):
        deltaic.create(tmp_path / "t", "id BIGINT COMMENT 'a key', c CHAR(3)")
        deltaic.create(tmp_path / "u", deltaic.Table(tmp_path / "t").schema)
        assert deltaic.Table(tmp_path / "u").schema.json() == deltaic.Table(tmp_path / "t").schema.json()

    @pytest.mark.parametrize(
        ("schema", "error", "message"),
        [
            (pa.schema([("a", pa.duration("s"))]), exceptions.InvalidSchemaError, "`a`"),
            (pa.int64(), exceptions.InvalidArgumentError, "schema"),
            (7, exceptions.InvalidArgumentError, "a int is no schema"),
            (["id"], exceptions.InvalidArgumentError, "a list is no schema"),
        ],
    )
    def test_what_is_none_is_refused(self, tmp_path, schema, error, message):
        with pytest.raises(error, match=message):
            deltaic.create(tmp_path / "t", schema)
        assert not (tmp_path / "t").exists()
