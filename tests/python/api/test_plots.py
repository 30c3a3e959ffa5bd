"""Charts: their numbers are those of the table, and what a stranger wrote into it is text in the pictures."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest
from click.testing import CliRunner

import deltaic
from deltaic import exceptions
from deltaic.cli.main import main
from deltaic.plot import charts
from deltaic.plot.clustering import clustering, depth, spans

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "<script>$\\frac{$\x1b[31m\u202e&\"'"


@pytest.fixture
def table(tmp_path: Path) -> deltaic.Table:
    """Six files: two countries by three days, of which one country has twice the rows; then one row is deleted."""
    for day in range(3):
        rows = pa.table({
            "country": ["DE", "DE", "AT"],
            "day": [dt.date(2026, 1, 1 + day)] * 3,
            "id": pa.array([day * 10, day * 10 + 5, day * 10 + 7], pa.int64()),
            "flag": [True, False, None],
            "s": [{"a": 1}, {"a": 9}, {"a": 5}],
        })  # fmt: skip
        deltaic.write(tmp_path / "t", rows, partition_by=["country", "day"])
    table = deltaic.Table(tmp_path / "t")
    table.delete("id = 5")
    return table


def texts(file: Path) -> list[str]:
    """The texts of an SVG, which has nothing that runs."""
    root = ET.fromstring(file.read_text())
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert "script" not in names
    assert not any(name.lower().startswith("on") for element in root.iter() for name in element.attrib)
    return ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("}text")]


def test_sizes_count_every_file_and_byte(table: deltaic.Table) -> None:
    files, total = charts.sizes(table)
    assert sum(files.series["files"]) == table.totals().files == 6
    assert sum(total.series["bytes"]) == table.totals().bytes
    for label, count in zip(files.labels, files.series["files"], strict=True):
        least = float(label.split()[1]) * {"B": 1, "KiB": 1024}[label.split()[2]]
        assert count == sum(least <= file["size"] < 2 * least for file in table.file_list())
    assert sum(charts.sizes(table, "country = 'AT'")[0].series["files"]) == 3
    assert charts.sizes(table, "id > 100")[0].labels == []


def test_partitions_are_a_heat_map_of_bytes(table: deltaic.Table, tmp_path: Path) -> None:
    (heat,) = charts.partitions(table)
    assert (heat.about, heat.rows) == (("country", "day"), ["AT", "DE"])
    assert heat.columns == ["2026-01-01", "2026-01-02", "2026-01-03"]
    for row, line in zip(heat.rows, heat.cells, strict=True):
        for day, cell in zip(heat.columns, line, strict=True):
            assert cell == table.totals(f"country = '{row}' AND day = '{day}'").bytes
    assert charts.partitions(table, "country = 'DE' OR day = '2026-01-03'")[0].cells[0][0] is None
    deltaic.write(tmp_path / "one", pa.table({"p": ["a", None], "n": [1, 2]}), partition_by="p")
    (bars,) = charts.partitions(deltaic.Table(tmp_path / "one"))
    assert bars.labels == ["a", "null"]
    deltaic.write(tmp_path / "none", pa.table({"n": [1]}))
    with pytest.raises(exceptions.InvalidArgumentError, match="no partition columns"):
        charts.partitions(deltaic.Table(tmp_path / "none"))


@pytest.mark.parametrize(
    ("ranges", "files", "opened"),
    [
        ([(1, 1), (2, 2), (3, 3)], 3, 1),
        ([(1, 3), (1, 3), (1, 3)], 3, 3),
        ([(1, 3), (2, 4)], 2, 1.5),
        ([(1, 1), (2, 2)], 4, 3),
        ([("a", "b"), ("b", "c")], 2, 1.5),
    ],
)
def test_the_depth_of_ranges(ranges: list[tuple[object, object]], files: int, opened: float) -> None:
    assert depth(ranges, files) == opened
    # the same by its definition
    ends = [end for both in ranges for end in both]
    counts = [sum(low <= at <= high for low, high in ranges) + files - len(ranges) for at in ends]
    assert sum(counts) / len(counts) == opened


def test_clustering_is_by_column_and_of_the_named_ones(table: deltaic.Table) -> None:
    bars, best = clustering(table)
    assert bars.labels == ["id", "s.a"]
    shares = dict(zip(bars.labels, bars.series["files"], strict=True))
    assert shares["id"] < shares["s.a"] <= 100
    assert best.title == "Ranges of id, file by file"
    assert all(0 <= low <= high <= 1 for low, high in best.spans)
    assert [bars.labels for bars in clustering(table, ["s.a"])[:1]] == [["s.a"]]
    assert len(spans([(n, n + 1) for n in range(1000)])) == 200
    with pytest.raises(exceptions.InvalidArgumentError, match="flag"):
        clustering(table, ["flag"])


def test_versions_and_the_log_have_every_commit(table: deltaic.Table) -> None:
    (bars,) = charts.versions(table)
    assert {name: sum(counts) for name, counts in bars.series.items()} == {"WRITE": 3, "DELETE": 1}
    assert sum(charts.versions(table, limit=1)[0].series["DELETE"]) == 1
    by_version, since = charts.log(table)
    assert by_version.labels == ["0", "1", "2", "3"]
    commits = [table.commit(version) for version in range(4)]
    assert by_version.series["add"] == [commit["adds"] for commit in commits]
    assert by_version.series["remove"] == [commit["removes"] for commit in commits]
    # protocol, metadata and commitInfo of the first; commitInfo of the others
    assert by_version.series["other"] == [3, 1, 1, 1]
    written = [
        len((table_log / f"{n:020}.json").read_text().splitlines())
        for table_log in [_log(table)]
        for n in range(4)
    ]
    assert [sum(counts) for counts in zip(*by_version.series.values(), strict=True)] == written
    assert since.series["actions"] == [sum(written[: n + 1]) for n in range(4)]


def _log(table: deltaic.Table) -> Path:
    from pathlib import Path

    return Path(table.uri) / "_delta_log"


def test_many_versions_share_bars(tmp_path: Path) -> None:
    for n in range(charts.BARS + 1):
        deltaic.write(tmp_path, pa.table({"n": [n]}))
    table = deltaic.Table(tmp_path)
    assert charts.log(table)[0].labels[:2] == ["0-1", "2-3"]
    assert sum(sum(counts) for counts in charts.versions(table)[0].series.values()) == charts.BARS + 1
    (_log(table) / f"{0:020}.json").unlink()
    assert charts.log(table)[0].labels[0] == "1"


def test_pruning_is_what_explain_says(table: deltaic.Table) -> None:
    files, total = charts.pruning(table, "country = 'DE' AND id >= 20")
    said = dict(zip(files.labels, files.series["files"], strict=True))
    explained = table.explain("country = 'DE' AND id >= 20")
    assert (said["opened"], said["dropped"]) == (1, 5)
    assert said["country = 'DE' (partition values)"] == 3
    assert total.series["bytes"][:2] == [explained["kept"]["bytes"], explained["dropped"]["bytes"]]


def test_pictures_are_written_and_shown(table: deltaic.Table, tmp_path: Path) -> None:
    plots = {
        "sizes": table.plot.sizes(),
        "partitions": table.plot.partitions(),
        "clustering": table.plot.clustering(),
        "versions": table.plot.versions(),
        "log": table.plot.log(),
        "pruning": table.plot.pruning("id = 7"),
    }
    for name, plot in plots.items():
        assert plot._repr_png_().startswith(b"\x89PNG\r\n")
        plot.save(tmp_path / f"{name}.svg")
        found = texts(tmp_path / f"{name}.svg")
        assert {chart.title for chart in plot.charts} <= set(found)
    assert {"AT", "DE", "2026-01-03"} <= set(texts(tmp_path / "partitions.svg"))
    with pytest.raises(exceptions.InvalidArgumentError, match=r"\.png"):
        plots["log"].save(tmp_path / "x.gif")


def test_hostile_names_are_text(tmp_path: Path) -> None:
    rows = pa.table({HOSTILE: [1, 2], "p": [HOSTILE, "名前"]})
    deltaic.write(tmp_path / "t", rows, partition_by="p", configuration={"delta.columnMapping.mode": "name"})
    table = deltaic.Table(tmp_path / "t")
    for plot in (table.plot.clustering(), table.plot.partitions(), table.plot.pruning("p = '$x$ $'")):
        plot.save(tmp_path / "x.svg")
        plot.save(tmp_path / "x.png")
        found = texts(tmp_path / "x.svg")
        assert not any(c < " " or c == "\u202e" for text in found for c in text)
        assert any("<script>$\\frac{$\\x1b[31m" in text or "$x$ $" in text for text in found)
    for kind in ("clustering", "partitions"):
        shown = CliRunner().invoke(main, ["plot", kind, str(tmp_path / "t")]).stdout
        assert "<script>$\\frac{$\\x1b[31m" in shown
        assert "\x1b" not in shown


@pytest.mark.parametrize("kind", ["sizes", "partitions", "clustering", "versions", "log"])
def test_the_terminal_shows_every_bar(table: deltaic.Table, kind: str) -> None:
    shown = CliRunner().invoke(main, ["plot", kind, table.uri])
    assert shown.exit_code == 0
    found = json.loads(CliRunner().invoke(main, ["plot", kind, table.uri, "--json"]).stdout)
    for chart in found["charts"]:
        assert chart["title"] in shown.stdout
        for label in chart.get("labels", []) + chart.get("rows", []):
            assert label in shown.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["pruning"], ["sizes", "--column", "id"], ["sizes", "--limit", "1"], ["log", "--where", "id = 1"],
        ["sizes", "--png", "x.svg"], ["nothing"], ["clustering", "--column", "nope"],
    ],
)  # fmt: skip
def test_what_does_not_fit_a_kind_is_refused(table: deltaic.Table, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "deltaic", "plot", arguments[0], table.uri, *arguments[1:]],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def test_without_matplotlib_the_terminal_still_shows_charts(table: deltaic.Table, tmp_path: Path) -> None:
    (tmp_path / "matplotlib.py").write_text("raise ImportError")
    program = "import sys; sys.path.insert(0, sys.argv.pop(1)); from deltaic.cli.main import run; run()"
    for more, code in (([], 0), (["--png", str(tmp_path / "x.png")], 3)):
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path), "plot", "sizes", table.uri, *more],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
    assert "pip install 'deltaic[plot]'" in done.stderr
