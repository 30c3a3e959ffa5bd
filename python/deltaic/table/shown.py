"""Histories, reports and explanations, which are lists and dictionaries that notebooks show as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic import html
from deltaic.printable import counted, size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# what the log says of a column in a file
_FACTS = {"partition_value": "is", "min": "min", "max": "max", "null_count": "nulls"}
_VERSION = ("version", "timestamp", "operation", "operationParameters", "operationMetrics", "engineInfo")


class History(list[dict[str, Any]]):
    """Commits, newest first."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        headings = ("version", "timestamp", "operation", "parameters", "metrics", "engine")
        rows = ([commit.get(name) for name in _VERSION] for commit in self)
        return html.page(counted(len(self), "commit"), html.grid(headings, rows))


class Report(dict[str, Any]):
    """What was listed, read and skipped."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return html.page("What was read", html.facts(self.items()))


class Explanation(dict[str, Any]):
    """Why a scan opens or skips each file."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        totals = ((what, _totals(self[what])) for what in ("kept", "dropped"))
        parts = ((part["part"], part["by"], part["files"], size(part["bytes"])) for part in self["parts"])
        shown = [html.facts(totals)]
        if self["parts"]:
            shown.append(html.grid(("part that drops", "by", "files", "bytes"), parts))
        shown += [
            html.note(f"{test} cannot be decided for a file") for test in self["undecided"][: html.ROWS]
        ]
        headings = ("", "size", "why", "the log says", "path")
        return html.page(
            "Why files are opened or skipped", *shown, html.grid(headings, _files(self["files"]))
        )


class ConflictReport(dict[str, Any]):
    """A transaction against the commits after its version."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        what = self["operation"] or "The transaction"
        title = f"{what} from version {self['read_version']} at {self['isolation_level']}: {self['outcome']}"
        headings = ("version", "operation", "outcome", "rule", "why", "files")
        rows = (
            (
                *(winner["version"], winner["operation"], rule["outcome"], rule["rule"]),
                f"it {rule['winner']}; this transaction: {rule['ours']}",
                rule["files"],
            )
            for winner in self["winners"]
            for rule in winner["rules"]
            if rule["applies"]
        )
        return html.page(title, html.grid(headings, rows))


def table_html(
    title: str, detail: dict[str, Any], columns: Iterable[tuple[str, str, bool, str | None]] = ()
) -> str:
    """A table in a notebook: its facts by the names of `Table.detail`, and its columns."""
    reader, writer = detail["minReaderVersion"], detail["minWriterVersion"]
    rows: list[tuple[str, object]] = [
        ("location", detail["location"]),
        ("name", detail["name"]),
        ("description", detail["description"]),
        ("last modified", detail["lastModified"]),
        ("files", detail["numFiles"]),
        ("size", size(detail["sizeInBytes"])),
        ("partitioned by", detail["partitionColumns"]),
        ("clustered by", detail["clusteringColumns"]),
        ("protocol", f"reader {reader}, writer {writer}"),
        ("features", detail["tableFeatures"]),
        ("properties", detail["properties"]),
    ]
    shown = list(columns)
    grid = html.grid(("column", "type", "nullable", "comment"), shown) if shown else ""
    return html.page(title, html.facts(rows), grid)


def _totals(found: dict[str, Any]) -> str:
    return f"{counted(found['files'], 'file')}, {size(found['bytes'])}"


def _files(files: Iterable[dict[str, Any]]) -> Iterator[tuple[object, ...]]:
    for file in files:
        why = file["why"] or "; ".join(f"not {cause['part']}: {cause['by']}" for cause in file["causes"])
        facts = [
            ", ".join(f"{said} {column[name]}" for name, said in _FACTS.items() if name in column)
            for column in file["columns"]
        ]
        said = "; ".join(
            f"{column['column']}: {fact}" for column, fact in zip(file["columns"], facts, strict=True)
        )
        yield ("kept" if file["kept"] else "dropped", size(file["size"]), why, said or None, file["path"])
