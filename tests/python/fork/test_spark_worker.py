"""Spark forks its Python workers from a daemon: a table is opened, read, and refused in them."""

import pickle

import pyarrow as pa
import pytest

import deltaic
from deltaic import exceptions


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("worker") / "t"
    for i in range(3):
        deltaic.write(root, pa.table({"id": list(range(i * 10, i * 10 + 10))}))
    return str(root)


def test_t38_a_table_is_read_in_a_map(spark, root):
    def count(version):
        import pyarrow

        import deltaic

        return pyarrow.table(deltaic.Table(root, version=version).to_arrow(where="id >= 5")).num_rows

    assert spark.sparkContext.parallelize([0, 1, 2, 2], 4).map(count).collect() == [5, 15, 25, 25]


def test_a_table_is_read_in_map_in_arrow(spark, root):
    def read(batches):
        import pyarrow

        import deltaic

        for batch in batches:
            for version in batch.column("id").to_pylist():
                yield from pyarrow.table(deltaic.Table(root, version=version).to_arrow()).to_batches()

    assert spark.range(3).mapInArrow(read, "id long").count() == 10 + 20 + 30


def test_an_error_in_a_worker_comes_with_its_facts(spark, root):
    def refuse(version):
        import deltaic

        try:
            deltaic.Table(root, version=version)
        except deltaic.exceptions.DeltaError as error:
            return pickle.dumps(error)
        return None

    (sent,) = spark.sparkContext.parallelize([9], 1).map(refuse).collect()
    error = pickle.loads(sent)
    assert isinstance(error, exceptions.VersionNotFoundError)
    assert (error.version, error.latest) == (9, 2)
