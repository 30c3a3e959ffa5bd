"""`docs/settings.md` shows the tables that the code goes by."""

from __future__ import annotations

import pytest
from settings_tables import DOCUMENT, with_tables

from deltaic.spark.session import known_settings as known

DELTA = known.DELTA


def test_the_document_has_the_tables() -> None:
    text = DOCUMENT.read_text()
    assert text.count("<!-- table: ") == 11
    assert with_tables(text) == text


@pytest.mark.parametrize(
    ("name", "fate"),
    [
        (DELTA + "optimizeWrite.enabled", "followed"),
        (DELTA + "properties.defaults.appendOnly", "followed"),
        (DELTA + "merge.deletionVectors.persistent", "followed"),
        (DELTA + "merge.preserveNullSourceStructs", "refused"),
        (DELTA + "merge.repartitionBeforeWrite.enabled", "without effect"),
        (DELTA + "nobody.knows.it", None),
        ("spark.sql.parquet.compression.codec", "followed"),
        ("parquet.block.size", "followed"),
        ("spark.sql.parquet.outputTimestampType", "refused"),
        ("spark.sql.parquet.writeLegacyFormat", "without effect"),
        ("spark.sql.shuffle.partitions", None),
    ],
)
def test_the_fate_of_a_setting(name: str, fate: str | None) -> None:
    assert known.fate(name) == fate


def test_a_refused_setting_is_an_error_of_its_operations_with_another_value() -> None:
    name = DELTA + "resolveMergeUpdateStructsByName.enabled"
    assert known.refused_of({name: "True"}, "merge") is None
    assert known.refused_of({name: "false"}, "write") is None
    assert known.refused_of({name: "false"}, "merge") == (
        name,
        "false",
        known.REFUSED[name[len(DELTA) :]].why,
    )
    pattern = DELTA + "streaming.unsafeReadOnNullabilityChange.enabled"
    assert known.refused_of({pattern: "true"}, "stream") is not None
