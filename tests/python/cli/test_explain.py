"""`explain`: the verdict on every file is that of `files`, and says which part of the condition made it."""

from decimal import Decimal

import pyarrow as pa
import pytest
from command_line import document, output, process

import deltaic


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    root = tmp_path_factory.mktemp("explain") / "days"
    for day, numbers in (
        ("2026-01-01", ["1.5", "2.5"]),
        ("2026-01-02", ["3.5", None]),
        ("2026-01-02", ["9.5", "8"]),
    ):
        n = pa.array([None if n is None else Decimal(n) for n in numbers], pa.decimal128(4, 1))
        deltaic.write(root, pa.table({"day": [day] * 2, "n": n}), partition_by=["day"])
    return root


def test_for_machines(days):
    found = document("explain", days, "--where", "day = '2026-01-02' AND n BETWEEN 2 AND 5")
    assert found["kept"]["files"] == 1
    assert found["dropped"]["files"] == 2
    verdicts = {tuple((c["part"], c["by"]) for c in file["causes"]) for file in found["files"]}
    assert verdicts == {
        (),
        (("day = '2026-01-02'", "partition values"),),
        (("n <= 5", "statistics"),),
    }
    dropped = next(f for f in found["files"] if f["causes"] and f["causes"][0]["by"] == "statistics")
    assert dropped["num_records"] == 2
    assert dropped["columns"] == [
        {"column": "day", "partition_value": "2026-01-02"},
        {"column": "n", "min": "8.0", "max": "9.5", "null_count": 0},
    ]
    kept = next(f for f in found["files"] if f["kept"])
    assert kept["why"] == "may match"
    assert [p["part"] for p in found["parts"]] == ["day = '2026-01-02'", "n <= 5"]


def test_for_people(days):
    shown = output("explain", days, "--where", "n > 5 AND length(day) > 3")
    assert "not n > 5: statistics" in shown
    assert "n: min 1.5, max 2.5, nulls 0; 2 rows" in shown
    assert "cannot be decided for a file" in shown
    assert shown.splitlines()[-1].startswith("1 file (")
    few = output("explain", days, "--where", "n > 5", "--only", "dropped", "--limit", 1)
    assert few.count(".parquet") == 1
    assert "2 files (" in few


def test_a_condition_is_needed_and_must_be_one(days):
    assert process("explain", days).returncode == 2
    refused = process("explain", days, "--where", "nothing = 1")
    assert refused.returncode == 2
    assert "nothing" in refused.stderr


def test_the_kept_files_are_those_that_a_scan_lists(days):
    table = deltaic.Table(days)
    for where in ("n IS NULL", "NOT (n < 9 OR day <= '2026-01-01')", "n IN (1.5, 100)", "day = 'x' OR n > 9"):
        reported = table.explain(where)
        assert {f["path"] for f in reported["files"] if f["kept"]} == {
            f["path"] for f in table.file_list(where)
        }
    low = table.explain("n > 9", kept=False)["files"][0]["columns"][0]["min"]
    assert isinstance(low, Decimal)
