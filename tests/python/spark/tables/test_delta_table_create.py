"""Tables that `DeltaTable`'s builder makes and replaces, by path and by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from dml_tables import last_commit
from pyspark.sql import types as T  # noqa: N812

import deltaic
from deltaic import exceptions
from deltaic.spark.session.kind import is_connect
from deltaic.tables import DeltaTable, IdentityGenerator

pytestmark = pytest.mark.spark


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "a table's place")


@pytest.fixture
def name(door: Any) -> Any:
    name = f"t{uuid4().hex}"
    yield name
    door.sql(f"DROP TABLE IF EXISTS {name}")


def fields(path: str) -> dict[str, Any]:
    return {f.name: f for f in deltaic.Table(path).schema}


class TestByPath:
    def test_every_kind_of_column(self, door: Any, path: str) -> None:
        table = (
            DeltaTable.create(door)
            .location(path)
            .comment("of people")
            .property("owner", "me")
            .addColumn("key", "BIGINT", generatedAlwaysAs=IdentityGenerator(10, 5))
            .addColumn("other", T.LongType(), generatedByDefaultAs=IdentityGenerator())
            .addColumn("at", T.TimestampType(), False, comment="of birth")
            .addColumn("day", "DATE", generatedAlwaysAs="CAST(at AS DATE)")
            .addColumn("short", "VARCHAR(3)")
            .addColumn("a b", "STRUCT<x: INT, y: ARRAY<DECIMAL(10,2)>>")
            .addColumns(T.StructType().add("last", "integer", False, {"comment": "the end"}))
            .addColumns([T.StructField("more", T.StringType())])
            .partitionedBy("day")
            .property("delta.columnMapping.mode", "name")
            .execute()
        )
        own = fields(path)
        assert list(own) == ["key", "other", "at", "day", "short", "a b", "last", "more"]
        identity = {k: v for k, v in own["key"].metadata.items() if k.startswith("delta.identity")}
        assert identity == {
            "delta.identity.start": 10,
            "delta.identity.step": 5,
            "delta.identity.allowExplicitInsert": False,
        }
        assert own["other"].metadata["delta.identity.allowExplicitInsert"] is True
        assert (own["at"].type, own["at"].nullable, own["at"].metadata["comment"]) == (
            "timestamp",
            False,
            "of birth",
        )
        assert own["day"].metadata["delta.generationExpression"] == "CAST(at AS DATE)"
        assert own["short"].metadata["__CHAR_VARCHAR_TYPE_STRING"] == "varchar(3)"
        assert own["a b"].type["fields"][1]["type"]["elementType"] == "decimal(10,2)"
        assert (own["last"].nullable, own["last"].metadata["comment"]) == (False, "the end")
        (row,) = table.detail().collect()
        assert (row.description, row.partitionColumns, row.properties["owner"]) == (
            "of people",
            ["day"],
            "me",
        )
        assert {"generatedColumns", "identityColumns", "columnMapping"} <= {*row.tableFeatures}
        info, _ = last_commit(path)
        assert info["operation"] == "CREATE TABLE"
        assert info["operationParameters"]["isManaged"] == "false"
        assert info["operationParameters"]["partitionBy"] == '["day"]'
        assert info["engineInfo"].startswith(f"Apache-Spark/{door.version}")

    def test_rows_of_a_made_table_follow_its_rules(self, door: Any, path: str) -> None:
        table = (
            DeltaTable.create(door)
            .location(path)
            .addColumn("key", "BIGINT", generatedAlwaysAs=IdentityGenerator())
            .addColumn("n", "INT", False)
            .addColumn("double", "INT", generatedAlwaysAs="n * 2")
            .execute()
        )
        deltaic.save(door.sql("SELECT CAST(id AS int) AS n FROM range(3)"), path, mode="append")
        rows = table.toDF().collect()
        assert sorted((r.n, r.double) for r in rows) == [(0, 0), (1, 2), (2, 4)]
        assert len({r.key for r in rows}) == 3

    def test_each_mode(self, door: Any, path: str) -> None:
        with pytest.raises(exceptions.TableNotFoundError):
            DeltaTable.replace(door).location(path).addColumn("a", "INT").execute()
        DeltaTable.createIfNotExists(door).location(path).addColumn("a", "INT").execute()
        DeltaTable.createIfNotExists(door).location(path).addColumn("b", "INT").execute()
        with pytest.raises(exceptions.TableAlreadyExistsError):
            DeltaTable.create(door).location(path).addColumn("b", "INT").execute()
        assert list(fields(path)) == ["a"]
        DeltaTable.replace(door).location(path).addColumn("b", "INT").clusterBy("b").execute()
        assert (list(fields(path)), last_commit(path)[0]["operation"]) == (["b"], "REPLACE TABLE")
        assert deltaic.Table(path).detail()["clusteringColumns"] == ["b"]
        table = DeltaTable.createOrReplace(door).location(path).addColumn("c", "INT").execute()
        assert (list(fields(path)), last_commit(path)[0]["operation"]) == (["c"], "CREATE OR REPLACE TABLE")
        assert deltaic.Table(path).detail()["clusteringColumns"] == []
        assert [row.version for row in table.history().collect()] == [2, 1, 0]

    def test_the_name_of_a_path(self, door: Any, path: str) -> None:
        builder = (
            DeltaTable.create(door)
            .tableName(f"delta.`{path}`")
            .addColumns(T.StructType().add("a", "integer"))
        )
        builder.execute()
        assert list(fields(path)) == ["a"]
        with pytest.raises(exceptions.InvalidArgumentError):
            DeltaTable.replace(door).tableName(f"delta.`{path}`").location(f"{path}2").execute()

    def test_clustering_by_fields(self, door: Any, path: str) -> None:
        builder = (
            DeltaTable.create(door).location(path).addColumn("a", "INT").addColumn("s", "STRUCT<x: INT>")
        )
        builder.clusterBy(["s.x", "a"]).execute()
        (row,) = DeltaTable.forPath(door, path).detail().collect()
        assert row.clusteringColumns == ["s.x", "a"]

    def test_what_is_refused(self, door: Any, path: str) -> None:
        builder = DeltaTable.create(door)
        for wrong in (
            lambda: builder.tableName(1),
            lambda: builder.location(None),
            lambda: builder.comment(1),
            lambda: builder.addColumn(1, "INT"),
            lambda: builder.addColumn("a", 1),
            lambda: builder.addColumn("a", "INT", "yes"),
            lambda: builder.addColumn("a", "INT", generatedAlwaysAs=1),
            lambda: builder.addColumn("a", "INT", generatedByDefaultAs="b"),
            lambda: builder.addColumns("a INT"),
            lambda: builder.addColumns([1]),
            lambda: builder.partitionedBy(1),
            lambda: builder.clusterBy("a", 1),
            lambda: builder.property("a", 1),
        ):
            with pytest.raises(TypeError):
                wrong()
        with pytest.raises(ValueError, match="non-zero"):
            builder.addColumn("a", "BIGINT", generatedAlwaysAs=IdentityGenerator(step=0))
        with pytest.raises(ValueError, match="cannot both be set"):
            builder.addColumn("a", "INT", True, "b", IdentityGenerator())
        with pytest.raises(exceptions.InvalidSchemaError):
            builder.addColumn("a", "NOSUCHTYPE")
        with pytest.raises(exceptions.InvalidArgumentError, match="a name or a location"):
            builder.addColumn("a", "INT").execute()
        builder.location(path).addColumn("A", "INT")
        with pytest.raises(exceptions.InvalidSchemaError):
            builder.execute()
        assert not Path(path, "_delta_log").exists()


class TestByName:
    def test_a_table_of_the_catalog(self, door: Any, name: str) -> None:
        made = DeltaTable.create(door).tableName(name).addColumn("id", "BIGINT").execute()
        deltaic.save(door.range(3), deltaic.Table(made.detail().collect()[0].location).uri, mode="append")
        table = DeltaTable.forName(door, name)
        (row,) = table.detail().collect()
        assert row.name.endswith(f"default.{name}")
        assert row.location.startswith("file:/")
        assert row.location.endswith(f"/{name}")
        assert sorted(r.id for r in table.toDF().collect()) == [0, 1, 2]
        if not is_connect(door):
            # a Connect server gives a Python data source no path for a table of its catalog
            assert sorted(r.id for r in door.table(name).collect()) == [0, 1, 2]
        with pytest.raises(exceptions.TableAlreadyExistsError, match=name):
            DeltaTable.create(door).tableName(name).addColumn("id", "BIGINT").execute()
        DeltaTable.createIfNotExists(door).tableName(f"default.{name}").addColumn("x", "INT").execute()
        assert list(fields(row.location)) == ["id"]
        DeltaTable.replace(door).tableName(name).addColumn("x", "INT").execute()
        assert table.toDF().columns == ["x"]

    def test_a_name_for_a_place(self, door: Any, name: str, path: str) -> None:
        builder = DeltaTable.create(door).tableName(name).location(path).addColumn("id", "BIGINT")
        builder.execute()
        assert DeltaTable.forName(door, name).detail().collect()[0].location == f"file:{path}"
        with pytest.raises(exceptions.InvalidArgumentError, match="location"):
            DeltaTable.replace(door).tableName(name).location(f"{path}2").addColumn("id", "INT").execute()
        door.sql(f"DROP TABLE {name}")
        with pytest.raises(exceptions.SchemaMismatchError, match="the builder gives"):
            DeltaTable.create(door).tableName(name).location(path).addColumn("x", "INT").execute()
        # a name again for the table that is there
        DeltaTable.create(door).tableName(name).location(path).execute()
        assert deltaic.Table(path).version == 0
        assert DeltaTable.forName(door, name).toDF().columns == ["id"]

    def test_a_clone_by_name(self, door: Any, name: str, path: str) -> None:
        deltaic.save(door.range(3), path)
        clone = DeltaTable.forPath(door, path).clone(name, True)
        assert clone.detail().collect()[0].name.endswith(name)
        assert DeltaTable.forName(door, name).toDF().count() == 3

    def test_names_that_are_no_tables(self, door: Any, name: str) -> None:
        with pytest.raises(exceptions.TableNotFoundError, match="no table"):
            DeltaTable.forName(door, "no_such_table")
        with pytest.raises(exceptions.TableNotFoundError, match="no table"):
            DeltaTable.forName(door, "no_such_schema.t")
        with pytest.raises(exceptions.TableNotFoundError):
            DeltaTable.replace(door).tableName("no_such_table").addColumn("a", "INT").execute()
        with pytest.raises(exceptions.InvalidArgumentError, match="location"):
            DeltaTable.create(door).tableName("no_such_schema.t").addColumn("a", "INT").execute()
        door.sql("SELECT 1 AS a").createOrReplaceTempView("a_view")
        with pytest.raises(exceptions.TableNotFoundError, match="a view"):
            DeltaTable.forName(door, "a_view")
        door.sql(f"CREATE TABLE {name} (a INT) USING parquet")
        with pytest.raises(exceptions.TableNotFoundError, match="parquet"):
            DeltaTable.forName(door, name)
