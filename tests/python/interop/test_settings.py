"""Settings, properties and options: each that delta-spark knows has a place; those of files have the effect that they
have there."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic import exceptions
from deltaic.spark.session import known_options as options
from deltaic.spark.session import known_settings as known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

# settings of Spark itself that begin so are about files and their rows
SPARKS = ("spark.sql.parquet.", "spark.sql.files.")
# of a default that is that of another setting
SAME_AS = "<value of "


@pytest.fixture(scope="module")
def registered(
    peer: Callable[[str, Path], tuple[list[str], dict[str, str]]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    command, environment = peer("registered_settings.py", tmp_path_factory.mktemp("warehouse"))
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=600
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


class TestEachHasAPlace:
    def test_settings(self, registered: dict[str, Any]) -> None:
        names = {n: v for n, v in registered["settings"].items() if n.startswith((known.DELTA, *SPARKS))}
        assert len(names) > 350
        assert [name for name in names if known.fate(name) is None] == []
        # whoever sets a setting to what it is anyway sees no error
        defaults = {name: value for name, value in names.items() if not value.startswith(SAME_AS)}
        for operation in known.operations():
            assert known.refused_of(defaults, operation) is None

    def test_each_entry_of_ours_is_one_of_theirs(self, registered: dict[str, Any]) -> None:
        names = registered["settings"]
        for table, prefix in (
            (known.FOLLOWED, known.DELTA),
            (known.REFUSED, known.DELTA),
            (known.WITHOUT_EFFECT, known.DELTA),
            (known.SPARKS_FOLLOWED, ""),
            (known.SPARKS_REFUSED, ""),
            (known.SPARKS_WITHOUT_EFFECT, ""),
        ):
            for entry in table:
                if entry == "parquet.*" or "The log names the files." in str(table[entry]):
                    # of Parquet, and of later versions of Spark
                    continue
                if entry.startswith("streaming.allowSourceColumn"):
                    # each stream has its own, so none is registered
                    continue
                assert any(known.stands_for(prefix + entry, name) for name in names), entry

    def test_properties(self, registered: dict[str, Any], tmp_path: Path) -> None:
        names = registered["properties"]
        assert len(names) > 50
        assert [name for name in names if options.property_fate(name) is None] == []
        assert [name for name in options.PROPERTIES_WITHOUT_EFFECT if name not in names] == []
        assert [name for name in options.PROPERTIES_REFUSED if name not in names] == []
        deltaic.create(tmp_path / "t", "id BIGINT")
        for name in names:
            if options.property_fate(name) == "refused":
                with pytest.raises(exceptions.InvalidArgumentError, match=name):
                    deltaic.Table(tmp_path / "t").set_properties({name: "true"})

    def test_options(self, registered: dict[str, Any]) -> None:
        names = registered["options"]
        assert len(names) > 35
        assert [name for name in names if options.option_fate(name) is None] == []


def footers(path: Path) -> list[pq.FileMetaData]:
    """Of the live data files, those with fewest rows first."""
    files = pa.table(deltaic.Table(path).files()).column("path").to_pylist()
    return sorted((pq.read_metadata(path / f) for f in files), key=lambda m: m.num_rows)


def facts(path: Path) -> dict[str, Any]:
    """What the footers of the live data files say of how they were written."""
    found = footers(path)
    columns = [m.row_group(g).column(0) for m in found for g in range(m.num_row_groups)]
    return {
        "codecs": sorted({c.compression for c in columns}),
        "rows": [m.num_rows for m in found],
        "several row groups": any(m.num_row_groups > 1 for m in found),
        "dictionary": sorted({c.has_dictionary_page for c in columns}),
        # what has no dictionary is encoded so by the second version of the writer alone
        "second": any(e.startswith("DELTA_") for c in columns for e in c.encodings),
    }


QUERY = "SELECT id % 50 AS id, repeat('x', 40) AS t FROM range(0, 1000, 1, 1)"
CODEC, ROWS = "spark.sql.parquet.compression.codec", "spark.sql.files.maxRecordsPerFile"
FORMAT = "delta.parquet.format.version"
NO_DICTIONARY = {"parquet.enable.dictionary": "false"}
PLAIN = {
    "codecs": ["SNAPPY"],
    "rows": [1000],
    "several row groups": False,
    "dictionary": [True],
    "second": False,
}

# settings, properties of the table, options of the write, and what follows
FILES: dict[str, tuple[dict[str, str], dict[str, str], dict[str, str], dict[str, Any]]] = {
    "nothing": ({}, {}, {}, {}),
    "codec of the session": ({CODEC: "zstd"}, {}, {}, {"codecs": ["ZSTD"]}),
    "codec of the write": ({CODEC: "zstd"}, {}, {"compression": "gzip"}, {"codecs": ["GZIP"]}),
    "no codec": ({CODEC: "none"}, {}, {}, {"codecs": ["UNCOMPRESSED"]}),
    "lz4": ({CODEC: "lz4_raw"}, {}, {}, {"codecs": ["LZ4"]}),
    "rows of the session": ({ROWS: "400"}, {}, {}, {"rows": [200, 400, 400]}),
    "rows of the write": ({ROWS: "400"}, {}, {"maxRecordsPerFile": "600"}, {"rows": [400, 600]}),
    "no limit of the write": ({ROWS: "400"}, {}, {"maxRecordsPerFile": "0"}, {}),
    "a negative limit of the write": ({ROWS: "400"}, {}, {"maxRecordsPerFile": "-1"}, {}),
    "a negative limit": ({ROWS: "-1"}, {}, {}, {}),
    "dictionary": (NO_DICTIONARY, {}, {}, {"dictionary": [False]}),
    "dictionary of the table": ({}, NO_DICTIONARY, {}, {"dictionary": [False]}),
    "version of the table": (NO_DICTIONARY, {FORMAT: "2.12.0"}, {}, {"dictionary": [False], "second": True}),
    "version of the session": (
        {"parquet.writer.version": "v2", **NO_DICTIONARY},
        {},
        {},
        {"dictionary": [False], "second": True},
    ),
    "version of the write": (
        NO_DICTIONARY,
        {FORMAT: "2.12.0"},
        {"parquet.writer.version": "v1"},
        {"dictionary": [False]},
    ),
    "version of the table first": (
        {"parquet.writer.version": "v2", **NO_DICTIONARY},
        {FORMAT: "1.0.0"},
        {},
        {"dictionary": [False]},
    ),
    "options of others": ({}, {}, {"header": "true", "fs.s3a.access.key": "k", "versionAsOf": "7"}, {}),
}


# on Spark 4.1 the writer of delta-spark does not get it, though it should
LATER = {"version of the table", "version of the table first"}


@pytest.fixture
def session(spark: SparkSession) -> Iterator[Callable[[dict[str, str]], None]]:
    """Sets settings for the test."""
    made: set[str] = set()

    def set_(settings: dict[str, str]) -> None:
        for name, value in settings.items():
            made.add(name)
            spark.conf.set(name, value)

    yield set_
    for name in made:
        spark.conf.unset(name)


class TestFiles:
    @pytest.mark.parametrize("case", FILES)
    def test_both_write_the_same(
        self,
        case: str,
        spark: SparkSession,
        session: Callable[[dict[str, str]], None],
        delta_spark: Any,
        tmp_path: Path,
    ) -> None:
        settings, properties, said, reported = FILES[case]
        listed = ", ".join(f"'{n}' = '{v}'" for n, v in properties.items())
        for who in ("theirs", "direct", "arrow", "driver"):
            told_properties = f" TBLPROPERTIES ({listed})" if listed else ""
            create = (
                f"CREATE TABLE delta.`{tmp_path / who}` (id BIGINT, t STRING) USING delta{told_properties}"
            )
            (delta_spark.sql if who == "theirs" else spark.sql)(create)
        for name, value in settings.items():
            delta_spark.sql(f"SET `{name}` = {value}")
        try:
            delta_spark.write(tmp_path / "theirs", QUERY, "append", said, [])
        finally:
            for name in settings:
                delta_spark.sql(f"RESET `{name}`")
        expected = {**PLAIN, **reported}
        theirs = {**expected, "second": expected["second"] != (case in LATER)}
        assert facts(tmp_path / "theirs") == theirs
        session(settings)
        for route in ("direct", "arrow", "driver"):
            writer = spark.sql(QUERY).write.format("delta").mode("append").options(**said)
            writer.option("deltaicRoute", route).save(str(tmp_path / route))
            assert facts(tmp_path / route) == expected, route
        same = [
            sorted(map(repr, pa.table(deltaic.Table(tmp_path / r).to_arrow()).to_pylist()))
            for r in ("theirs", "arrow")
        ]
        assert same[0] == same[1]


class TestReads:
    @pytest.mark.parametrize(
        "setting", ["spark.sql.files.ignoreMissingFiles", "spark.sql.files.ignoreCorruptFiles"]
    )
    def test_files_that_are_gone_or_broken(
        self,
        setting: str,
        spark: SparkSession,
        session: Callable[[dict[str, str]], None],
        delta_spark: Any,
        tmp_path: Path,
    ) -> None:
        path = tmp_path / "t"
        for start in (0, 10):
            deltaic.write(path, pa.table({"id": pa.array(range(start, start + 10), pa.int64())}))
        victim = path / pa.table(deltaic.Table(path).files()).column("path")[0].as_py()
        victim.unlink() if "Missing" in setting else victim.write_bytes(b"PAR1 nothing")
        with pytest.raises(Exception, match=r"(?i)FAILED_READ_FILE|is not a Parquet file"):
            spark.read.format("delta").load(str(path)).collect()
        delta_spark.sql(f"SET {setting} = true")
        try:
            theirs = delta_spark.read(path).column("id").to_pylist()
        finally:
            delta_spark.sql(f"RESET {setting}")
        session({setting: "true"})
        ours = [r.id for r in spark.read.format("delta").load(str(path)).collect()]
        assert sorted(ours) == sorted(theirs)
        assert len(ours) == 10
