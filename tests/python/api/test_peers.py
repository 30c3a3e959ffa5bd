"""pyarrow, pandas, Polars and DuckDB take files and rows as they are, and give data to write."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import deltaic
from deltaic import exceptions


@pytest.fixture
def opened(table):
    return deltaic.Table(table.root)


class TestReading:
    def test_pyarrow_takes_batches(self, opened):
        reader = pa.RecordBatchReader.from_stream(opened.to_arrow(["id"]))
        assert sum(batch.num_rows for batch in reader) == 6

    def test_pandas(self, opened):
        frame = pa.table(opened.to_arrow(where="id > 20")).to_pandas()
        assert sorted(frame["id"]) == [21, 22, 23]

    def test_pandas_takes_it_directly(self, opened):
        frame = pd.DataFrame.from_arrow(opened.to_arrow(["id"]))
        assert len(frame) == 6

    def test_polars(self, opened):
        frame = pl.DataFrame(opened.to_arrow())
        assert frame.filter(pl.col("day") == pl.date(2026, 1, 2)).height == 4
        assert pl.DataFrame(opened.files()).height == 2

    def test_duckdb(self, opened):
        rows = opened.to_arrow(["id", "day"])
        found = duckdb.from_arrow(rows).aggregate("count(*), sum(id)").fetchall()
        assert found == [(6, 107)]
        assert duckdb.sql("SELECT max(id) FROM rows").fetchall() == [(23,)]

    def test_duckdb_reads_the_file_list(self, opened):
        files = opened.files(stats=True)  # noqa: F841 (DuckDB finds it by its name)
        query = "SELECT partition_values['day'], num_records FROM files ORDER BY 2"
        assert duckdb.sql(query).fetchall() == [("2026-01-01", 2), ("2026-01-02", 4)]


DATA = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "name": ["a", "b", None]})


class TestWriting:
    @pytest.mark.parametrize(
        "data",
        [
            pytest.param(lambda: DATA, id="pyarrow.Table"),
            pytest.param(lambda: DATA.to_batches()[0], id="pyarrow.RecordBatch"),
            pytest.param(lambda: DATA.to_reader(), id="pyarrow.RecordBatchReader"),
            pytest.param(lambda: ds.dataset(DATA).scanner().to_reader(), id="pyarrow.dataset"),
            pytest.param(lambda: pl.DataFrame(DATA), id="polars"),
            pytest.param(lambda: DATA.to_pandas(), id="pandas"),
            pytest.param(lambda: duckdb.from_arrow(DATA), id="duckdb"),
        ],
    )
    def test_anything_that_speaks_arrow_can_be_written(self, tmp_path, data):
        result = deltaic.write(tmp_path / "t", data())
        assert (result.version, result.rows, result.created) == (0, 3, True)
        found = pa.table(deltaic.Table(tmp_path / "t").to_arrow()).sort_by("id")
        assert found.to_pydict() == DATA.to_pydict()

    def test_a_stream_of_one_table_is_data_for_another(self, table, tmp_path):
        deltaic.write(tmp_path / "copy", deltaic.Table(table.root).to_arrow(), partition_by="day")
        copy = deltaic.Table(tmp_path / "copy")
        assert copy.partition_columns == ["day"]
        assert pa.table(copy.to_arrow()).num_rows == 6

    @pytest.mark.parametrize("data", [[{"id": 1}], 7, None, pa.array([1, 2]), pl.Series([1])])
    def test_what_is_no_table_is_refused(self, tmp_path, data):
        with pytest.raises(exceptions.InvalidArgumentError) as caught:
            deltaic.write(tmp_path / "t", data)
        assert caught.value.argument == "data"
        assert not (tmp_path / "t").exists()
