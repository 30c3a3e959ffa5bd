"""What notebooks show of tables and results: everything as text, whatever a stranger wrote into the table."""

from __future__ import annotations

import json
import pickle
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic
from deltaic import html

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "<script>alert(1)</script>\"'&amp;<img src=x onerror=alert(1)>\x1b[31m\u202egnp"
ELEMENTS = {"div", "strong", "table", "thead", "tbody", "tr", "th", "td"}


class Page(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, shown: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(shown)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.open.append(tag)
        self.attributes |= {f"{name}={value}" for name, value in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def shown(value: object) -> Page:
    page = Page(value._repr_html_())
    assert set(page.elements) <= ELEMENTS
    assert page.attributes <= {
        "style=text-align:left",
        "style=text-align:right",
        "style=text-align:left;white-space:nowrap",
    }
    text = "".join(page.texts)
    assert not any(c < " " or c == "\x7f" or c in "\x9b\u202e" for c in text)
    return page


@pytest.fixture
def hostile(tmp_path: Path) -> deltaic.Table:
    """A table in which each text is hostile: names, values, comments, properties, the commit."""
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    fields = [
        {"name": HOSTILE, "type": "string", "nullable": True, "metadata": {"comment": HOSTILE}},
        {"name": "p", "type": "string", "nullable": True, "metadata": {}},
    ]
    info = {
        "timestamp": 1, "operation": HOSTILE, "operationParameters": {HOSTILE: HOSTILE},
        "operationMetrics": {HOSTILE: HOSTILE}, "engineInfo": HOSTILE, "userMetadata": HOSTILE,
    }  # fmt: skip
    metadata = {
        "id": HOSTILE, "name": HOSTILE, "description": HOSTILE, "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}), "partitionColumns": ["p"],
        "configuration": {HOSTILE: HOSTILE},
    }  # fmt: skip
    add = {
        "path": f"{HOSTILE}.parquet", "partitionValues": {"p": HOSTILE}, "size": 3, "modificationTime": 1,
        "dataChange": True, "stats": json.dumps({"numRecords": 1, "minValues": {HOSTILE: HOSTILE}}),
    }  # fmt: skip
    actions = [
        {"commitInfo": info},
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": metadata},
        {"add": add},
    ]
    (log / f"{0:020}.json").write_text("\n".join(map(json.dumps, actions)))
    return deltaic.Table(tmp_path / "t")


def test_hostile_text_is_text(hostile: deltaic.Table) -> None:
    explained = hostile.explain(f"p = '{HOSTILE.replace(chr(39), chr(39) * 2)}' AND p <> 'x'")
    for value in (hostile, hostile.history(), explained, hostile.verify(), hostile.verify(deep=True)):
        said = "".join(shown(value).texts)
        assert "<script>alert(1)</script>" in said
        assert "\\x1b[31m\\u202egnp" in said
    assert "open_ms" in "".join(shown(hostile.report).texts)


def test_a_table_shows_its_facts_and_columns(tmp_path: Path) -> None:
    deltaic.create(
        tmp_path, "id BIGINT NOT NULL COMMENT 'the key', s STRUCT<a: INT>", description="of people"
    )
    texts = shown(deltaic.Table(tmp_path)).texts
    assert texts[0] == "Delta table, version 0"
    assert texts[texts.index("description") + 1] == "of people"
    at = texts.index("id")
    assert texts[at : at + 4] == ["id", "long", "False", "the key"]
    assert "struct" in texts


def test_results_are_still_lists_and_dictionaries(tmp_path: Path) -> None:
    deltaic.write(tmp_path, pa.table({"id": [1]}))
    table = deltaic.Table(tmp_path)
    for value, kind in ((table.history(), list), (table.report, dict), (table.explain("id = 1"), dict)):
        assert isinstance(value, kind)
        assert kind(value) == value == pickle.loads(pickle.dumps(value))
        assert repr(value) == repr(kind(value))
        json.dumps(value, default=str)


def test_long_results_are_cut(tmp_path: Path) -> None:
    for n in range(html.ROWS + 3):
        deltaic.write(tmp_path, pa.table({"id": [n]}), user_metadata="x" * 10_000)
    page = shown(deltaic.Table(tmp_path).history())
    assert page.elements.count("tr") == 1 + html.ROWS
    assert page.texts[-1] == "… and 3 more"
    assert len(html.text("x" * 10_000)) == html.LETTERS + 1
    assert len(html.text({str(n): "x" * 10_000 for n in range(10_000)})) == html.LETTERS + 1


def test_a_conflict_shows_the_rules_that_apply(tmp_path: Path) -> None:
    deltaic.write(tmp_path, pa.table({"id": [1]}))
    deltaic.write(tmp_path, pa.table({"id": [2]}))
    reads = {"wholeTable": True, "predicates": [], "files": [], "apps": []}
    changes = {"removes": [], "adds": [], "domains": []}
    lost = {"readVersion": 0, "operation": HOSTILE, "reads": reads, "changes": changes}
    report = deltaic.Table(tmp_path).explain_conflict({**lost, "isolationLevel": "Serializable"})
    texts = shown(report).texts
    assert "<script>alert(1)</script>" in texts[0]
    assert texts[0].endswith("from version 0 at Serializable: conflict")
    applies = [rule["rule"] for winner in report["winners"] for rule in winner["rules"] if rule["applies"]]
    assert applies
    assert set(applies) <= set(texts)
    assert report == dict(report)


def test_findings_are_shown_with_what_to_do(tmp_path: Path) -> None:
    deltaic.write(tmp_path, pa.table({"id": [1]}))
    assert "no problem was found" in shown(deltaic.Table(tmp_path).verify()).texts[0]
    next(tmp_path.glob("*.parquet")).unlink()
    texts = shown(deltaic.Table(tmp_path).verify()).texts
    assert "1 finding" in texts[0]
    assert "MissingFile" in texts
    assert "no file" in texts
