"""`explain-conflict`: each family of rules on real logs, and what a lost commit leaves."""

import json

import pyarrow as pa
import pytest
from command_line import document, output, process

import deltaic
from deltaic import exceptions

FEATURES = ["deletionVectors", "domainMetadata", "inCommitTimestamp", "rowTracking", "appendOnly"]
PROTOCOL = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["deletionVectors"],
    "writerFeatures": FEATURES,
}
SCHEMA = {
    "type": "struct",
    "fields": [
        {"name": "p", "type": "string", "nullable": True, "metadata": {}},
        {"name": "id", "type": "long", "nullable": True, "metadata": {}},
    ],
}
METADATA = {
    "id": "a-table",
    "format": {"provider": "parquet", "options": {}},
    "schemaString": json.dumps(SCHEMA),
    "partitionColumns": ["p"],
    "configuration": {"delta.enableInCommitTimestamps": "true"},
}


def add(path, p="x", low=0, *, change=True):
    stats = {"numRecords": 10, "minValues": {"id": low}, "maxValues": {"id": low + 9}, "nullCount": {"id": 0}}
    return {
        "add": {
            "path": path,
            "partitionValues": {"p": p},
            "size": 1,
            "modificationTime": 1,
            "dataChange": change,
            "stats": json.dumps(stats),
        }
    }


def remove(path, p="x", *, change=True):
    return {
        "remove": {
            "path": path,
            "deletionTimestamp": 1,
            "dataChange": change,
            "extendedFileMetadata": True,
            "partitionValues": {"p": p},
            "size": 1,
        }
    }


def commit(root, version, *actions, blind=False, operation="WINNER"):
    info = {
        "timestamp": 1000 + version,
        "inCommitTimestamp": 1000 + version,
        "operation": operation,
        "operationParameters": {},
        "isBlindAppend": blind,
        "engineInfo": "another/1",
    }
    lines = [{"commitInfo": info}, *actions]
    file = root / "_delta_log" / f"{version:020}.json"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def root(tmp_path):
    """Files `a` (ids 0 to 9) and `b` (10 to 19) in partition `x`, `c` (20 to 29) in `y`."""
    root = tmp_path / "t"
    (root / "_delta_log").mkdir(parents=True)
    files = [add("a"), add("b", low=10), add("c", "y", 20)]
    commit(root, 0, {"protocol": PROTOCOL}, {"metaData": METADATA}, *files, operation="CREATE TABLE")
    return root


def changed(**configuration):
    return {"metaData": METADATA | {"configuration": METADATA["configuration"] | configuration}}


RULES = {
    "protocol-changed": (
        [{"protocol": PROTOCOL | {"writerFeatures": FEATURES[:4]}}],
        ["--adds", "n"],
        "conflict",
    ),
    "features-added": (
        [{"protocol": PROTOCOL | {"writerFeatures": [*FEATURES, "checkConstraints"]}}],
        ["--adds", "n"],
        "rebase",
    ),
    "metadata-changed": ([changed(**{"delta.dataSkippingNumIndexedCols": "1"})], ["--adds", "n"], "conflict"),
    "properties-set": ([changed(owner="me")], ["--adds", "n"], "rebase"),
    "application-transaction": ([{"txn": {"appId": "job", "version": 1}}], ["--app", "job"], "conflict"),
    "metadata-domain": (
        [{"domainMetadata": {"domain": "d", "configuration": "{}", "removed": False}}],
        ["--domain", "d"],
        "conflict",
    ),
    "append-read": ([add("new"), remove("c", "y")], ["--where", "p = 'x'", "--removes", "a"], "conflict"),
    "append-elsewhere": ([add("new", "y")], ["--where", "p = 'x'", "--removes", "a"], "rebase"),
    "rewrite-added": ([add("new", change=False)], ["--read-table", "--removes", "a"], "rebase"),
    "remove-read": ([remove("a")], ["--reads", "a", "--adds", "n"], "conflict"),
    "rewrite-read": ([remove("a", change=False)], ["--reads", "a", "--adds", "n"], "rebase"),
    "file-rewritten": ([remove("a")], ["--removes", "a", "--rearranges"], "conflict"),
    "file-restated": ([add("a", change=False)], ["--removes", "a"], "rebase"),
    "file-added": ([add("n")], ["--adds", "n"], "conflict"),
    "row-ids": (
        [
            {
                "domainMetadata": {
                    "domain": "delta.rowTracking",
                    "configuration": '{"rowIdHighWaterMark":9}',
                    "removed": False,
                }
            }
        ],
        ["--adds", "n"],
        "rebase",
    ),
    "in-commit-timestamps": ([add("new", "y")], ["--adds", "n"], "rebase"),
}


def explain(root, *options):
    return document("explain-conflict", root, "--read-version", 0, *options)


@pytest.mark.parametrize("rule", RULES)
def test_each_family_of_rules(root, rule):
    actions, options, outcome = RULES[rule]
    commit(root, 1, *actions)
    reported = explain(root, "--operation", "OURS", *options)
    (winner,) = reported["winners"]
    asked = {r["rule"]: r for r in winner["rules"]}
    assert asked[rule]["applies"]
    assert (reported["outcome"], winner["outcome"]) == (outcome, outcome)
    assert asked[rule]["outcome"] in {outcome, "pass"}
    if outcome == "conflict":
        assert asked[rule]["error"] in {k for k, _ in deltaic._core.error_kinds()}
        assert reported["version"] == 1
    shown = output("explain-conflict", root, "--read-version", 0, "--operation", "OURS", *options)
    assert rule in shown
    assert "WINNER another/1" in shown


def test_the_document_is_stable(root):
    commit(root, 1, add("new"), remove("c", "y"))
    reported = explain(root, "--operation", "DELETE", "--where", "p = 'x'", "--removes", "a")
    rules = reported["winners"][0].pop("rules")
    assert reported == {
        "format": 1,
        "read_version": 0,
        "operation": "DELETE",
        "isolation_level": "WriteSerializable",
        "outcome": "conflict",
        "version": 1,
        "winners": [
            {
                "version": 1,
                "operation": "WINNER",
                "engine": "another/1",
                "timestamp": "1970-01-01T00:00:01.001+00:00",
                "blind_append": False,
                "outcome": "conflict",
            }
        ],
    }
    assert rules[0] == {
        "rule": "append-read",
        "applies": True,
        "outcome": "conflict",
        "error": "ConcurrentAppend",
        "files": ["new"],
        "subject": "p = 'x'",
        "winner": "added rows that a read predicate may match, and had read the table itself",
        "ours": "read by that predicate",
        "then": "open the table again and repeat the operation",
    }
    assert len(rules) == len({rule["rule"] for rule in rules}) >= 21


@pytest.mark.parametrize(
    ("level", "outcome"), [("Serializable", "conflict"), ("writeserializable", "rebase"), (None, "rebase")]
)
def test_the_level_decides(root, level, outcome):
    commit(root, 1, add("new"), blind=True)
    options = [] if level is None else ["--level", level]
    assert explain(root, "--where", "id < 10", "--removes", "a", *options)["outcome"] == outcome


def test_every_rule_is_reported_and_not_only_the_first(root):
    commit(root, 1, changed(**{"delta.appendOnly": "false"}), add("new"), remove("a"))
    commit(root, 2, remove("b"))
    reported = explain(root, "--read-table", "--removes", "a", "--removes", "b")
    applies = [[r["rule"] for r in w["rules"] if r["outcome"] == "conflict"] for w in reported["winners"]]
    assert applies[0] == ["metadata-changed", "file-rewritten", "append-read"]
    assert applies[1] == ["file-rewritten"]
    assert reported["version"] == 1
    assert len(explain(root, "--read-table", "--until", 1)["winners"]) == 1
    shown = output("explain-conflict", root, "--read-version", 0, "--read-table", "--all")
    assert "do not apply" not in shown
    assert "same-rows" in shown


def test_nobody_was_first(root):
    assert output("explain-conflict", root, "--read-version", 0, "--read-table") == (
        "the transaction from version 0 at SnapshotIsolation meets nobody\n"
    )


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 2),
        (["--read-version", 0, "--where", "nope = 1"], 2),
        (["--read-version", 7], 1),
        (["--transaction", "gone.json"], 1),
        (["--read-version", 0, "--transaction", "x"], 2),
    ],
)
def test_no_transaction(root, options, code):
    done = process("explain-conflict", root, *options)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr


def race(root, mode="overwrite", **options):
    """Loses a race: while the rows are read, another writer is first."""

    def batches():
        deltaic.write(root, ROWS, "overwrite")
        yield from ROWS.to_batches()

    reader = pa.RecordBatchReader.from_batches(ROWS.schema, batches())
    with pytest.raises(exceptions.CommitConflictError) as caught:
        deltaic.write(root, reader, mode, **options)
    return caught.value


ROWS = pa.table({"id": pa.array([1], pa.int64())})


@pytest.fixture
def lost(tmp_path):
    deltaic.write(tmp_path / "r", ROWS)
    return race(tmp_path / "r")


def test_an_error_has_the_facts_and_the_transaction(tmp_path, lost):
    assert (lost.version, lost.winner, lost.level) == (1, "WRITE", "WriteSerializable")
    assert (lost.rule, len(lost.files)) == ("file-rewritten", 1)
    assert lost.advice == "open the table again and repeat the operation"
    record = json.loads(lost.transaction)
    assert (record["readVersion"], record["lastWinner"], record["operation"]) == (0, 1, "WRITE")
    assert record["reads"]["wholeTable"]
    assert "\n" not in lost.transaction
    reported = deltaic.Table(tmp_path / "r").explain_conflict(lost.transaction)
    assert (reported["outcome"], reported["version"]) == ("conflict", 1)
    assert deltaic.Table(tmp_path / "r").explain_conflict(record) == reported


def test_a_saved_transaction_is_explained(tmp_path, lost):
    from deltaic.cli.output import error_facts

    deltaic.write(tmp_path / "r", ROWS)  # after the race: not among the winners
    (tmp_path / "record.json").write_text(lost.transaction)
    (tmp_path / "document.json").write_text(json.dumps(error_facts(lost)))
    reported = [
        document("explain-conflict", tmp_path / "r", "--transaction", tmp_path / f)
        for f in ("record.json", "document.json")
    ]
    assert reported[0] == reported[1]
    assert [w["version"] for w in reported[0]["winners"]] == [1]
    (rule,) = [r for r in reported[0]["winners"][0]["rules"] if r["rule"] == lost.rule]
    assert (rule["outcome"], rule["files"]) == ("conflict", lost.files)


def test_what_is_no_transaction_is_refused(root, tmp_path):
    for text, code in (("{", 1), ("[]", 1), ('{"error": {"kind": "TableNotFound"}}', 1), ('{"x": 1}', 2)):
        (tmp_path / "f").write_text(text)
        done = process("explain-conflict", root, "--transaction", tmp_path / "f")
        assert (done.returncode, len(done.stderr.splitlines())) == (code, 1), done.stderr
