"""The command line: what people see, what machines read, and the exit codes."""

import json

import pyarrow as pa
import pytest
from click.testing import CliRunner
from command_line import output, process

import deltaic
from deltaic import exceptions
from deltaic.cli.main import exit_code, main


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("cli") / "t"
    for day in ("2026-01-01", "2026-01-02"):
        rows = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "day": [day] * 3})
        deltaic.write(root, rows, partition_by="day", name="[bold]sales[/bold]")
    return root


class TestInspect:
    def test_for_people(self, root):
        shown = output("inspect", root)
        assert str(root) in shown
        assert "[bold]sales[/bold]" in shown
        assert "reader 1, writer 2" in shown
        assert "day" in shown

    def test_for_machines(self, root):
        found = json.loads(output("inspect", root, "--json"))
        assert found["version"] == 1
        assert found["files"]["files"] == 2
        assert found["metadata"]["partition_columns"] == ["day"]
        assert [column["name"] for column in found["columns"]] == ["id", "day"]
        assert found["report"]["fallbacks"] == []

    @pytest.mark.parametrize("arguments", [["{root}@v0"], ["{root}", "--version", "0"]])
    def test_an_older_version(self, root, arguments):
        arguments = [a.format(root=root) for a in arguments]
        found = json.loads(output("inspect", *arguments, "--json"))
        assert (found["version"], found["files"]["files"]) == (0, 1)

    def test_a_time(self, root):
        newest = json.loads(output("history", root, "--json"))[0]["timestamp"]
        assert json.loads(output("inspect", root, "--timestamp", newest, "--json"))["version"] == 1


class TestHistory:
    def test_for_people(self, root):
        shown = output("history", root).splitlines()
        assert shown[0].split()[:3] == ["version", "timestamp", "operation"]
        assert [line.split()[0] for line in shown[1:3]] == ["1", "0"]
        assert "WRITE" in shown[1]

    def test_for_machines(self, root):
        found = json.loads(output("history", root, "--json", "--limit", 1))
        assert [(commit["version"], commit["operation"]) for commit in found] == [(1, "WRITE")]


class TestFiles:
    def test_for_people(self, root):
        shown = output("files", root)
        assert shown.count(".parquet") == 2
        assert "2 files" in shown

    def test_a_predicate_prunes(self, root):
        shown = output("files", root, "--where", "day = '2026-01-02'")
        assert shown.count(".parquet") == 1
        assert "1 file, 1 pruned" in shown

    def test_one_line_of_json_a_file(self, root):
        found = [json.loads(line) for line in output("files", root, "--json", "--stats").splitlines()]
        assert sorted(file["partition_values"]["day"] for file in found) == ["2026-01-01", "2026-01-02"]
        assert all(json.loads(file["stats"])["numRecords"] == 3 for file in found)

    def test_a_limit(self, root):
        assert len(output("files", root, "--json", "--limit", 1).splitlines()) == 1


class TestSchema:
    def test_for_people(self, root):
        assert " |-- id: long (nullable = true)\n" in output("schema", root)

    def test_for_machines(self, root):
        assert json.loads(output("schema", root, "--json"))["fields"][0]["type"] == "long"


class TestLog:
    def test_for_people(self, root):
        shown = output("log", root).splitlines()
        assert [line.split()[0] for line in shown[1:]] == ["1", "0"]
        assert "metadata" in shown[2]

    def test_for_machines(self, root):
        found = json.loads(output("log", root, "--json"))
        assert [(commit["version"], commit["adds"]) for commit in found] == [(1, 1), (0, 1)]
        assert found[1]["metadata"]["name"] == "[bold]sales[/bold]"

    def test_a_limit(self, root):
        assert len(json.loads(output("log", root, "--json", "--limit", 1))) == 1

    def test_commits_that_are_gone_are_said_to_be(self, tmp_path):
        for i in range(3):
            deltaic.write(tmp_path / "t", pa.table({"id": [i]}))
        table = deltaic.Table(tmp_path / "t")
        (tmp_path / "t" / "_delta_log" / f"{0:020}.json").unlink()
        from deltaic.cli.log import summaries

        assert [commit["version"] for commit in summaries(table, 20)] == [2, 1]


class TestProcess:
    def test_success(self, root):
        done = process("inspect", root, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["version"] == 1

    def test_an_error_is_one_line_and_code_1(self, tmp_path):
        done = process("inspect", tmp_path / "nowhere")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("deltaic: no Delta table at")
        assert len(done.stderr.splitlines()) == 1

    def test_a_version_that_is_gone_says_what_there_is(self, root):
        done = process("schema", f"{root}@v7")
        assert done.returncode == 1
        assert "versions 0 to 1" in done.stderr

    @pytest.mark.parametrize(
        "arguments",
        [["files", "{root}", "--where", "id ="], ["files", "{root}", "--where", "nope = 1"]],
    )
    def test_a_wrong_predicate_is_code_2(self, root, arguments):
        done = process(*(a.format(root=root) for a in arguments))
        assert done.returncode == 2
        assert done.stderr.startswith("deltaic: predicate")
        assert len(done.stderr.splitlines()) == 1

    @pytest.mark.parametrize(
        "arguments",
        [["inspect"], ["inspect", "t", "--nope"], ["nope"], ["inspect", "t", "--storage-option", "x"]],
    )
    def test_usage_is_code_2(self, arguments):
        done = process(*arguments)
        assert done.returncode == 2
        assert "Usage: deltaic" in done.stderr
        assert "Traceback" not in done.stderr

    def test_no_command_shows_help(self):
        done = process()
        assert "Usage: deltaic" in done.stdout + done.stderr
        assert "Traceback" not in done.stderr

    def test_help_says_the_commands_and_the_exit_codes(self):
        done = process("--help")
        assert done.returncode == 0
        for word in ("files", "history", "inspect", "log", "schema", "tour", "130"):
            assert word in done.stdout

    def test_version(self):
        assert process("--version").stdout.strip().endswith(deltaic.__version__)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (exceptions.TableNotFoundError("m"), 1),
        (exceptions.LogCorruptError("m"), 1),
        (exceptions.StorageError("m"), 1),
        (exceptions.InvalidPredicateError("m"), 2),
        (exceptions.InvalidTimeTravelError("m"), 2),
        (exceptions.UnsupportedFeatureError("m"), 3),
        (exceptions.ConcurrentAppendError("m"), 4),
    ],
)
def test_exit_codes(error, code):
    assert exit_code(error) == code


class TestVerify:
    def test_a_whole_table(self, root):
        assert "no problem was found" in output("verify", root, "--deep")
        found = json.loads(output("verify", root, "--json"))
        assert found["ok"]
        assert (found["version"], found["files"], found["findings"]) == (1, 2, [])

    def test_what_is_wrong_ends_with_exit_code_1(self, tmp_path):
        deltaic.write(tmp_path, pa.table({"id": [1]}))
        next(tmp_path.glob("*.parquet")).unlink()
        done = process("verify", tmp_path)
        assert done.returncode == 1
        assert "MissingFile" in done.stdout
        assert "1 finding" in done.stdout


def test_the_schema_tells_what_columns_hold_by_themselves(tmp_path):
    columns = "n INT DEFAULT 42, g INT GENERATED ALWAYS AS (n + 1)"
    features = {"delta.feature.allowColumnDefaults": "supported"}
    deltaic.create(tmp_path / "t", columns, configuration=features)
    assert output("schema", tmp_path / "t").splitlines()[1:] == [
        " |-- n: integer (nullable = true, default = 42)",
        " |-- g: integer (nullable = true, generated = n + 1)",
    ]


class TestStorageOptions:
    """Options of the store, in a file: whoever lists processes sees the command line."""

    @pytest.mark.parametrize("standard_input", [True, False])
    def test_come_from_a_file(self, tmp_path, standard_input):
        # a key with a line break is refused before anything is sent
        kept = json.dumps({"aws_secret_access_key": "PLANTED\n", "aws_region": "eu"})
        file = tmp_path / "options.json"
        file.write_text(kept)
        arguments = [
            "inspect",
            "s3://bucket/t",
            "--storage-options-file",
            "-" if standard_input else str(file),
        ]
        reported = CliRunner().invoke(main, arguments, input=kept)
        assert isinstance(reported.exception, exceptions.InvalidArgumentError)
        assert "aws_secret_access_key" in str(reported.exception)
        assert "PLANTED" not in str(reported.exception) + reported.output
        better = ["--storage-option", "aws_secret_access_key=a", "--storage-option", "aws_endpoint=PLANTED"]
        reported = CliRunner().invoke(main, [*arguments, *better], input=kept)
        assert "aws_secret_access_key" not in str(reported.exception)

    @pytest.mark.parametrize(
        "kept", ["PLANTED", '["PLANTED"]', '{"token": 1}', '{"token": {"a": "PLANTED"}}', "{"]
    )
    def test_of_another_form_are_not_shown(self, root, tmp_path, kept):
        file = tmp_path / "options.json"
        file.write_text(kept)
        reported = process("inspect", root, "--storage-options-file", file)
        assert reported.returncode == 2
        assert "--storage-options-file" in reported.stderr
        assert "PLANTED" not in reported.stdout + reported.stderr

    def test_that_are_no_pairs_are_not_shown(self, root):
        reported = process("inspect", root, "--storage-option", "PLANTED")
        assert reported.returncode == 2
        assert "KEY=VALUE" in reported.stderr
        assert "PLANTED" not in reported.stdout + reported.stderr


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["histroy", "t"], "Did you mean history?"),
        (["alter", "rename", "t"], "Did you mean rename-column?"),
        (["history", "t", "--limt", "2"], "Did you mean '--limit'?"),
        (["alter", "add-columns", "t", "a INT", "--frist"], "Did you mean '--first'?"),
    ],
)
def test_a_mistyped_command_or_option_names_what_is_like_it(arguments, meant):
    done = process(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    # click before 8.4 writes it without quotes
    assert meant.replace("'", "") in done.stderr.replace("'", "")


def test_a_command_like_no_other_gets_no_suggestion():
    assert "Did you mean" not in process("xyzzy").stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["files", "{root}", "--where", "days = '2026-01-01'"],
        ["explain", "{root}", "--where", "dayy = '2026-01-01'"],
        ["changes", "{root}", "--from", "0", "--columns", "id,dayy"],
        ["delete", "{root}", "--yes", "--where", "DAYS = '2026-01-01'"],
        ["update", "{root}", "--set", "days='2026-01-01'"],
        ["alter", "rename-column", "{root}", "dayz", "d"],
    ],
)
def test_a_mistyped_column_names_the_one_that_is_like_it(tmp_path, arguments):
    fed = {"delta.enableChangeDataFeed": "true", "delta.columnMapping.mode": "name"}
    deltaic.write(tmp_path, pa.table({"id": [1], "day": ["2026-01-01"]}), configuration=fed)
    done = process(*(a.format(root=tmp_path) for a in arguments))
    assert done.returncode == 2
    assert "did you mean `day`?" in done.stderr
