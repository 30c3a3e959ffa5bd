use std::fmt::Write;

use super::{IsolationLevel, MATRIX, Verdict};

const HEAD: &str = "# Conflicts

Two writers are never asked to wait for each other. A transaction reads one version, prepares its changes, and commits the
next version if nobody else has. Where somebody has, every commit that landed meanwhile (a *winner*) is held against this
table, which is generated from `conflict::MATRIX` and is what the code itself reads.

What a transaction read is kept as predicates. A file of a winner counts as read only if its partition values and its
minimum and maximum statistics let a row of it match.

What a command of Spark reads of the table that it changes is read at the version of its transaction, and claimed: the query
of an INSERT or an overwrite, a DataFrame that was made before, the source of a merge, subqueries of conditions and values. A
merge claims the rows that its source matched, also those that no clause is about. `isBlindAppend` is true only where nothing
was read.

";

const TAIL: &str = "
The level is the table property `delta.isolationLevel` (`WriteSerializable` unless set). A transaction that changes no data
and no metadata, such as a compaction, runs at `SnapshotIsolation`, which for it is serializable.

A winner that recorded the application transaction of this one, at its version or a newer one, has done its work: nothing is
committed and nothing is lost. When other writers win every race until the time for the commit is used up, the error is
`ConcurrentWrite`.

A delete, update, merge or write that lost because rows changed (`ConcurrentAppend`, `ConcurrentDeleteRead`,
`ConcurrentDeleteDelete`) is played again, on the rows that the winner left: by the core until the time for the commit is used
up, on Spark as often as the setting `spark.deltaic.maxReplays` says (10). The other conflicts are errors at once.

## Why a commit lost

The error of a lost commit (`CommitConflictError` in Python) has the version and operation of the winner, the rule, the
isolation level, the files, the predicate and what to do as attributes, and as `transaction` all that this table asks of the
commit that was not made, in one line of JSON. The rules can be asked again, each with its answer for each winner:

```sh
python -m deltaic append orders new.parquet --json > lost.json || python -m deltaic explain-conflict orders --transaction lost.json
```

or `Table.explain_conflict(error.transaction)`. A transaction that has not been tried can be described instead:

```sh
python -m deltaic explain-conflict orders --read-version 12 --operation DELETE --where \"country = 'DE'\" --removes part-1.parquet
```

The answer comes from the code that commits go by. Nothing is written, and rules after the first conflict are asked as well.
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
        let _ = write!(out, "| `{}` | {} | {} |", row.name, row.winner, row.ours);
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
