"""The rows of the table that a merge matches, and their new values: one pass over the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from deltaic.exceptions import InvalidArgumentError, MultipleMatchesError
from deltaic.identifiers import quoted
from deltaic.spark.dml.assignments import Assignments, is_made, old_value
from deltaic.spark.dml.clauses import first_true
from deltaic.spark.dml.operation import shown
from deltaic.spark.dml.pairs import pairs_of
from deltaic.spark.dml.source import SOURCE_ROW
from deltaic.spark.dml.touched_rows import bitmaps_here, bitmaps_of_matches
from deltaic.spark.read.native_read import FILE, ROW
from deltaic.spark.session.worker_errors import errors_of_workers
from deltaic.spark.write.routes import driver
from deltaic.statements.merge_clauses import MATCHED, NOT_MATCHED_BY_SOURCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltaic.spark.dml.clauses import Clauses
    from deltaic.spark.dml.operation import Operation
    from deltaic.spark.dml.source import Source
    from deltaic.statements.merge_clauses import Clause

CLAUSE, OLD = "__deltaic_clause", "__deltaic_old"
"""Columns of matches: the number of the clause that is followed, and the row as it was."""
_BY_SOURCE = "__deltaic_by_source"
_IDLE, _SEEN = "idle", "seen"
_SHOWN_ROWS, _SHOWN_COLUMNS = 3, 5
_PLACES = (FILE, ROW, SOURCE_ROW, CLAUSE)


class Matches:
    """What a merge finds: the rows of the table that match the source or that a clause is about."""

    def __init__(self, op: Operation, source: Source, condition: Any, clauses: Clauses) -> None:
        self.op, self.source, self.condition, self.clauses = op, source, condition, clauses
        self.updates = {i: update_of(op, c, source) for i, c in clauses.updates.items()}
        self.counts: dict[int, int] = dict.fromkeys(clauses.all, 0)
        self.seen: list[int] | None = None
        """The rows of the source that match, by number, where they were listed."""
        self.often = False
        self._once = False
        self._here: pa.Table | None = None
        """The places of the rows, the source's numbers and the clauses, where the driver has them."""
        self._by_source = clauses.of(NOT_MATCHED_BY_SOURCE)
        self._pairs: Any = None
        """What the core found, where it did."""
        self._find_here()
        if not self.found_here:
            self.rows = self._joined()
        again = self.updates or clauses.inserts or op.dml.has_change_feed or not op.dml.uses_vectors
        if self.found_here or again:
            # read more than once, and values need not be the same each time
            with errors_of_workers():
                self.rows, held = op.computed_once(self.rows)
            self._once = True
            if self.found_here and held:
                self._look()

    @property
    def found_here(self) -> bool:
        """Whether the core found the rows: then they are claimed, and have the row ids of their rows."""
        return self._pairs is not None

    @property
    def is_here(self) -> bool:
        """Whether the driver has the rows."""
        return self._here is not None

    def _find_here(self) -> None:
        """Finds the rows in this process, if it can."""
        if self._by_source:
            return
        pairs = pairs_of(self.op, self.source, self.condition, row_ids=bool(self.updates))
        rows = None if pairs is None else pairs.filled(self._matching(pairs.matching))
        if rows is not None:
            self.rows, self._pairs = rows, pairs

    def _look(self) -> None:
        """At the places of rows that the driver has."""
        places = [name for name in _PLACES if name in self.rows.columns]
        self._here = driver.rows_here(self.rows.select(*places))

    def _take_few(self) -> None:
        """Where the source has few rows, those that match are likely to be few: then the driver has them.

        Where they are not, nothing was computed in vain: the tasks keep what they found.
        """
        if self.is_here or self._by_source or not self._once or not self.source.is_listable:
            return
        with errors_of_workers():
            few = driver.taken(self.rows)
        if few is not None:
            self.rows = few
            self._look()

    def _joined(self) -> Any:
        """The rows that tasks find."""
        op, F = self.op, self.op.functions  # noqa: N806 (its usual name)
        by_source = self._by_source
        if not by_source:
            self.source.announce()
        target = op.stored_rows("all", row_ids=bool(self.updates)).alias(op.ref.alias)
        if by_source:
            # before the join: these clauses know the columns of the table only
            number = first_true(F, ((i, _condition(op, c)) for i, c in by_source.items()))
            values = self._values(target, {i: u for i, u in self.updates.items() if i in by_source})
            target = target.select(
                "*", number.alias(_BY_SOURCE), *(v.alias(_place(*k)) for k, v in values.items())
            )
            rows = target.join(self.source.joinable(), op.column(self.condition), "left")
        else:
            rows = self.source.prune(target).join(self.source.joinable(), op.column(self.condition))
        return self._matching(rows)

    def _matching(self, rows: Any) -> Any:
        """What is known of rows of both sides that match."""
        op, F, by_source = self.op, self.op.functions, self._by_source  # noqa: N806 (its usual name)
        if self.clauses.only_inserts:
            return rows.select(SOURCE_ROW, FILE)
        matched = self.clauses.of(MATCHED)
        number = first_true(F, ((i, _condition(op, c)) for i, c in matched.items()))
        if by_source:
            number = F.when(F.col(SOURCE_ROW).isNotNull(), number).otherwise(F.col(_BY_SOURCE))
        rows = rows.select("*", number.alias(CLAUSE))
        if by_source:
            rows = rows.where(F.col(SOURCE_ROW).isNotNull() | F.col(CLAUSE).isNotNull())
        return self._generated(rows.select(*self._columns(rows, matched)))

    def _columns(self, rows: Any, matched: dict[int, Clause]) -> list[Any]:
        """Places, row ids, the new row where a clause updates, and the old one where changes are recorded."""
        op, F = self.op, self.op.functions  # noqa: N806 (its usual name)
        columns = [F.col(c) for c in (FILE, ROW, SOURCE_ROW, CLAUSE)]
        if op.dml.has_change_feed:
            columns.append(F.struct(*(old_value(op, f).alias(f.name) for f in op.written.fields)).alias(OLD))
        if not self.updates:
            return columns
        values = self._values(rows, {i: u for i, u in self.updates.items() if i in matched})
        carried = {
            (i, n): F.col(quoted(_place(i, n)))
            for i, u in self.updates.items()
            if i not in matched
            for n in _set(u)
        }
        always = self._always()
        by_column: dict[str, list[tuple[int, Any]]] = {}
        for (i, column), value in {**values, **carried}.items():
            by_column.setdefault(column, []).append((i, value))
        for field in op.written.fields:
            given = by_column.get(field.name, [])
            # the old value is not read where no row keeps it
            kept = not given or given[0][0] != always
            new: Any = old_value(op, field) if kept else None
            for i, value in given:
                new = value if i == always else F.when(F.col(CLAUSE) == i, value).otherwise(new)
            columns.append(new.alias(field.name))
        return [*columns, *op.row_id_columns()]

    def _always(self) -> int | None:
        """The clause that is followed for every row, if there is one."""
        if self._by_source:
            return None
        first = next(iter(self.clauses.of(MATCHED)))
        return first if self.clauses.all[first].condition is None else None

    def _values(self, rows: Any, updates: dict[int, Assignments]) -> dict[tuple[int, str], Any]:
        """By clause and column."""
        found = {}
        for i, update in updates.items():
            star = self.clauses.all[i].is_star
            values = update.new_values(update.stored(rows, keeps_fields=star))
            found.update({(i, name): value for name, value in values.items()})
        return found

    def _generated(self, rows: Any) -> Any:
        F = self.op.functions  # noqa: N806 (its usual name)
        changed: dict[str, Any] = {}
        for i, update in self.updates.items():
            for field in update.generated():
                value = self.op.generated(field, rows)
                kept = changed.get(field.name, F.col(quoted(field.name)))
                changed[field.name] = F.when(F.col(CLAUSE) == i, value).otherwise(kept)
        if not changed:
            return rows
        return rows.select(*(changed[c].alias(c) if c in changed else F.col(quoted(c)) for c in rows.columns))

    def of(self, *actions: str) -> Any:
        """The rows for which a clause with one of these actions is followed, once each."""
        F = self.op.functions  # noqa: N806 (its usual name)
        numbers = [i for i, c in self.clauses.all.items() if c.action in actions]
        rows = self.rows.where(F.col(CLAUSE).isin(numbers))
        return rows.dropDuplicates([FILE, ROW]) if self.often else rows

    def settle(self) -> None:
        """Claims the rows of the table that matched: no row of the source is inserted for them."""
        self._take_few()
        self._settle()
        if self._here is not None:
            self.op.dml.read_files(self._here[FILE].unique().to_pylist())
            self.seen = self._here[SOURCE_ROW].unique().to_pylist()
            return
        by_file = self.rows.groupBy(FILE)
        found = by_file.agg(self.op.functions.count("*"), *self._listing()).toArrow()
        self.op.dml.read_files(found[FILE].to_pylist())
        self._list(found)

    def _listing(self) -> list[Any]:
        """What lists the rows of the source that match, where that can be, for the inserts."""
        if not self.clauses.inserts or not self.source.is_listable:
            return []
        F = self.op.functions  # noqa: N806 (its usual name)
        return [F.collect_set(SOURCE_ROW).alias(_SEEN)]

    def _list(self, found: Any) -> None:
        if _SEEN in found.column_names:
            self.seen = pc.unique(pc.list_flatten(found[_SEEN])).to_pylist()

    def _settle(self) -> None:
        """Records which rows of the table were read; on Spark Connect and in this process that is recorded before."""
        self.op.tell_route("the rows that match", here=self.found_here)
        if not self.op.connect and not self.found_here:
            self.op.dml.set_predicate(self.op.asked())

    def take(self) -> None:
        """Takes the rows for which a clause is followed, and counts them by clause.

        Raises:
            MultipleMatchesError: for a row that matches several rows of the source.
        """
        self._take_few()
        fired = self._summed() if self._here is None else self._summed_here(self._here)
        if self.often and not self.clauses.may_match_often:
            self._refuse()
        rows = self.op.dml.take_rows(fired)["rows"]
        if self.often:
            # of several matches one counts
            ((only, _),) = self.clauses.of(MATCHED).items()
            self.counts[only] -= sum(self.counts.values()) - rows

    def _summed(self) -> Any:
        """Counts the rows by clause, and says which follow one, as bitmaps: by a job."""
        op, F = self.op, self.op.functions  # noqa: N806 (its usual name)
        more = [F.count_if(F.col(CLAUSE) == i).alias(f"clause{i}") for i in self.clauses.all]
        matched = F.col(SOURCE_ROW).isNotNull()
        # a match that no clause is about keeps a row of the source from joining
        more += [F.count_if(matched & F.col(CLAUSE).isNull()).alias(_IDLE), *self._listing()]
        bitmaps = bitmaps_of_matches(op, self.rows, F.col(CLAUSE).isNotNull(), matched, more)
        with errors_of_workers():
            found = op.bound(bitmaps).toArrow()
        self._settle()
        self._list(found)
        if self.clauses.inserts:
            op.dml.read_files(found.filter(pc.greater(found[_IDLE], 0))[FILE].unique().to_pylist())
        self.often = pc.sum(found["matches"]).as_py() != pc.sum(found["matched"]).as_py()
        for i in self.clauses.all:
            self.counts[i] = pc.sum(found[f"clause{i}"]).as_py() or 0
        return found.filter(pc.greater(found["count"], 0)).select([FILE, "bucket", "bitmap", "count"])

    def _summed_here(self, rows: pa.Table) -> Any:
        """As `_summed`, of rows that the driver has, each of which matches a row of the source."""
        self._settle()
        self.seen = rows[SOURCE_ROW].unique().to_pylist()
        fires = pc.is_valid(rows[CLAUSE])
        if self.clauses.inserts:
            self.op.dml.read_files(rows.filter(pc.invert(fires))[FILE].unique().to_pylist())
        self.often = rows.group_by([FILE, ROW]).aggregate([]).num_rows != rows.num_rows
        for i in self.clauses.all:
            self.counts[i] = pc.sum(pc.equal(rows[CLAUSE], i)).as_py() or 0
        return bitmaps_here(rows.filter(fires))

    def _refuse(self) -> None:
        names = self.source.key_columns or self.op.schema.names[:_SHOWN_COLUMNS]
        found = self._often_here(names) if self.found_here else self._often(names)
        rows = [", ".join(f"{n} = {v}" for n, v in zip(names, r[1:], strict=True)) for r in found]
        listed = "; ".join(f"{text} ({r[0]} times)" for text, r in zip(rows, found, strict=True))
        what = (
            f"a row of the table matches several rows of the source, by `{shown(self.condition)}`: {listed}"
        )
        what += ". Give the source one row for each, as by dropDuplicates on these columns"
        raise MultipleMatchesError.of(f"`{self.op.ref.path}`: {what}", self.op.ref.path, rows)

    def _often(self, names: Sequence[str]) -> list[Any]:
        """Some of the rows that match several of the source: how many, and the values of these columns."""
        op, F = self.op, self.op.functions  # noqa: N806 (its usual name)
        often = (
            self.rows.where(F.col(SOURCE_ROW).isNotNull())
            .groupBy(FILE, ROW)
            .agg(F.count("*").alias("matches"))
        )
        often = often.where("matches > 1").limit(_SHOWN_ROWS)
        often = often.select(F.col(FILE).alias("f"), F.col(ROW).alias("r"), "matches")
        target = self.source.prune(op.rows())
        both = target.join(F.broadcast(often), (F.col(FILE) == F.col("f")) & (F.col(ROW) == F.col("r")))
        found: list[Any] = both.select("matches", *self._texts(names)).collect()
        return found

    def _often_here(self, names: Sequence[str]) -> list[Any]:
        """As `_often`, of the pairs that the core found."""
        F, pairs = self.op.functions, self._pairs  # noqa: N806 (its usual name)
        values = [f"{i}" for i in range(len(names))]
        texts = (text.alias(value) for text, value in zip(self._texts(names), values, strict=True))
        matching = pairs.matching.select(FILE, ROW, *texts)
        often = pairs.filled(matching).groupBy(FILE, ROW, *values).agg(F.count("*").alias("matches"))
        found: list[Any] = often.where("matches > 1").select("matches", *values).limit(_SHOWN_ROWS).collect()
        return found

    def _texts(self, names: Sequence[str]) -> list[Any]:
        return [old_value(self.op, self.op.schema[name]).cast("string") for name in names]

    def number(self, when: str, action: str) -> int:
        """Of rows for which a clause of a kind is followed."""
        return sum(self.counts[i] for i in self.clauses.of(when, action=action))


def update_of(op: Operation, clause: Clause, source: Source) -> Assignments:
    """What an update sets."""
    given = star_values(op, clause, source) if clause.is_star else clause.values or {}
    new_columns = clause.when != NOT_MATCHED_BY_SOURCE
    return Assignments(op, given, clause="UPDATE", new_columns=new_columns)


def insert_of(op: Operation, clause: Clause, source: Source) -> Assignments:
    """What an insert gives a new row."""
    given = star_values(op, clause, source) if clause.is_star else clause.values or {}
    return Assignments(op, given, "values", clause="INSERT")


def star_values(op: Operation, clause: Clause, source: Source) -> dict[str, Any]:
    """Every column of the table with that of the source.

    Not those that the source lacks where the schema evolves or their values are made.

    Raises:
        InvalidArgumentError: for a column that the source lacks.
    """
    values = {}
    for field in op.written.fields:
        column = source.column(field.name)
        if column is not None:
            values[quoted(field.name)] = column
        elif not op.evolving and not is_made(field):
            name = f"{clause.when}{clause.action.capitalize()}All"
            error = InvalidArgumentError.of(name, f"the source has no column `{field.name}`")
            of_merge = {"clause": f"{clause.action.upper()} clause", "cols": ", ".join(source.names)}
            raise error.named("DELTA_MERGE_UNRESOLVED_EXPRESSION", sqlExpr=field.name, **of_merge)
    return values


def _set(update: Assignments) -> list[str]:
    return list(dict.fromkeys(a.path[0] for a in update.all))


def _condition(op: Operation, clause: Clause) -> Any:
    return None if clause.condition is None else op.column(clause.condition)


def _place(clause: int, column: str) -> str:
    return f"{_BY_SOURCE}_{clause}_{column}"
