"""Tables of Parquet files that others wrote, from Python and from the command line."""

import datetime as dt
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import deltaic
from deltaic import exceptions
from deltaic.cli.main import main

DATA = pa.table({"id": [1, 2, 3], "day": [dt.date(2026, 1, 1), None, dt.date(2026, 1, 2)]})


@pytest.fixture
def folder(tmp_path):
    pq.write_to_dataset(DATA, tmp_path / "t", partition_cols=["day"])
    (tmp_path / "t" / "_SUCCESS").touch()
    return tmp_path / "t"


def rows(folder):
    return pa.table(deltaic.Table(folder).to_arrow()).sort_by("id")


class TestConvert:
    @pytest.mark.parametrize(
        "how", [{"partition_by": {"day": "date"}}, {"partition_by": "day DATE"}, {"infer_partitions": True}]
    )
    def test_partitioned(self, folder, how):
        done = deltaic.convert(folder, **how)
        assert (done.version, done.existed, done.files, done.rows) == (0, False, 3, 3)
        assert rows(folder).equals(DATA)
        assert deltaic.Table(folder).totals("id > 2").files == 1
        again = deltaic.convert(folder, **how)
        assert (again.existed, again.files) == (True, 0)

    def test_without_partition_columns(self, folder):
        with pytest.raises(exceptions.InvalidArgumentError, match="name day, expected is none"):
            deltaic.convert(folder)
        with pytest.raises(exceptions.TableNotFoundError):
            deltaic.Table(folder)

    def test_properties_and_statistics(self, tmp_path):
        pq.write_table(DATA, tmp_path / "a.parquet")
        deltaic.convert(tmp_path, statistics=False, configuration={"delta.enableRowTracking": "true"})
        table = deltaic.Table(tmp_path)
        assert "rowTracking" in table.protocol.writer_features
        (file,) = table.file_list(stats=True)
        assert json.loads(file["stats"]) == {"numRecords": 3}

    def test_errors(self, tmp_path):
        with pytest.raises(exceptions.InvalidArgumentError, match="no files"):
            deltaic.convert(tmp_path)
        (tmp_path / "a.csv").write_text("a,b")
        with pytest.raises(exceptions.DataFileError, match=r"a\.csv"):
            deltaic.convert(tmp_path)
        nanos = pa.table({"at": pa.array([1], pa.timestamp("ns"))})
        (tmp_path / "a.csv").unlink()
        pq.write_table(nanos, tmp_path / "a.parquet")
        with pytest.raises(exceptions.DataFileError, match="nanoseconds"):
            deltaic.convert(tmp_path)


class TestCommand:
    def run(self, *arguments, code=0):
        result = CliRunner().invoke(main, [str(a) for a in arguments])
        assert result.exit_code == code, result.output
        return result.stdout

    def test_convert(self, folder):
        done = json.loads(self.run("convert", folder, "--partition-by", "day DATE", "--yes", "--json"))
        assert (done["files"], done["rows"]) == (3, 3)
        assert "is a Delta table already" in self.run("convert", folder, "--yes")

    def test_for_people(self, folder):
        assert "3 files, 3 rows" in self.run(
            "convert", folder, "--infer-partitions", "--property", "a=b", "--no-statistics"
        )
        assert deltaic.Table(folder).properties == {"a": "b"}
