use std::fmt::Write;

use super::{IsolationLevel, MATRIX, Verdict};

const HEAD: &str = "# Conflicts

Writers never wait for each other. A transaction reads one version, prepares its changes, and commits the next version if
nobody else has. If somebody has, deltaic checks every commit that landed meanwhile (a *winner*) against this table. It is
generated from `conflict::MATRIX`, which the code itself uses.

A transaction records what it read as predicates. A file of a winner counts as read only if, by its partition values and
its minimum and maximum statistics, a row of it may match.

A Spark command reads the table that it changes at the version of its transaction, and claims what it reads: in the query
of an INSERT or an overwrite, in a DataFrame that was created earlier, in the source of a merge, and in subqueries of
conditions and values. A merge claims all rows that its source matches, even if no clause applies to them. `isBlindAppend` is
true only if nothing was read and nothing is removed; such a commit may still change the metadata.

";

const TAIL: &str = "
The level is the table property `delta.isolationLevel` (`WriteSerializable` unless set). A transaction that changes no data
and no metadata, such as a compaction, runs at `SnapshotIsolation`, which for it is serializable.

If a winner has recorded the application transaction of this one, at its version or a newer one, the work is already done:
nothing is committed and nothing is lost. If other writers win every race until the time limit of the commit, the error is
`ConcurrentWrite`.

If a delete, update, merge or write loses because rows changed (`ConcurrentAppend`, `ConcurrentDeleteRead`,
`ConcurrentDeleteDelete`), it is retried on the newest version: by the core until the time limit of the commit, on Spark up to
`spark.deltaic.maxReplays` times (10). The other conflicts are errors at once.

## Why a commit lost

The error of a lost commit (`CommitConflictError` in Python) has these attributes: the version and operation of the winner,
the rule, the isolation level, the files, the predicate and what to do. Its attribute `transaction` describes the lost commit
in one line of JSON. With it you can check every rule again, against each winner:

```sh
python -m deltaic append orders new.parquet --json > lost.json || python -m deltaic explain-conflict orders --transaction lost.json
```

or `Table.explain_conflict(error.transaction)`. You can also describe a transaction that was never tried:

```sh
python -m deltaic explain-conflict orders --read-version 12 --operation DELETE --where \"country = 'DE'\" --removes part-1.parquet
```

The answer comes from the code that commits use. Nothing is written, and rules after the first conflict are checked, too.
";

/// The matrix as the page of the documentation.
pub fn markdown() -> String {
    let mut out = HEAD.to_owned();
    out.push_str("| rule | the winner | this transaction |");
    for level in IsolationLevel::ALL {
        let _ = write!(out, " {level} |");
    }
    out.push_str(" then |\n|---|---|---|---|---|---|---|\n");
    for row in MATRIX {
        let _ = write!(out, "| `{}` | {} | {} |", row.rule, row.winner, row.ours);
        for level in IsolationLevel::ALL {
            let _ = match row.verdict(level) {
                Verdict::Conflict(kind) => write!(out, " **{kind:?}** |"),
                Verdict::Rebase => write!(out, " rebase |"),
                Verdict::Pass => write!(out, " pass |"),
            };
        }
        let _ = writeln!(out, " {} |", row.then);
    }
    out.push_str(TAIL);
    out
}
