"""What the statements say."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Statement:
    """One on a table, given by the parts of its name."""

    name: list[str]


@dataclass(frozen=True)
class Optimize(Statement):
    """OPTIMIZE name [FULL] [WHERE …] [ZORDER BY (…)]."""

    where: str | None = None
    zorder_by: list[str] = field(default_factory=list)
    full: bool = False


@dataclass(frozen=True)
class Reorg(Statement):
    """REORG TABLE name [WHERE …] APPLY (PURGE)."""

    where: str | None = None


@dataclass(frozen=True)
class Vacuum(Statement):
    """VACUUM name [LITE | FULL] [USING INVENTORY name | (query)] [RETAIN n HOURS] [DRY RUN]."""

    hours: float | None = None
    dry_run: bool = False
    lite: bool = False
    inventory: str | None = None
    """The query of the existing files."""


@dataclass(frozen=True)
class Restore(Statement):
    """RESTORE [TABLE] name [TO] VERSION | TIMESTAMP AS OF …."""

    version: int | None = None
    timestamp: str | None = None


@dataclass(frozen=True)
class History(Statement):
    """DESCRIBE HISTORY name [LIMIT n]."""

    limit: int | None = None


@dataclass(frozen=True)
class Detail(Statement):
    """DESCRIBE DETAIL name."""


@dataclass(frozen=True)
class Convert(Statement):
    """CONVERT TO DELTA parquet.`/path` | name [NO STATISTICS] [PARTITIONED BY (…)]."""

    partition_by: str | None = None
    statistics: bool = True


@dataclass(frozen=True)
class Generate(Statement):
    """GENERATE mode FOR TABLE name."""

    mode: str = ""


@dataclass(frozen=True)
class Clone(Statement):
    """CREATE | REPLACE TABLE name [SHALLOW | DEEP] CLONE source …; `name` is the new table."""

    source: list[str] = field(default_factory=list)
    shallow: bool = True
    replaces: bool = False
    creates: bool = True
    """Whether there may be no such table yet: not of REPLACE TABLE alone."""
    if_not_exists: bool = False
    version: int | None = None
    timestamp: str | None = None
    properties: dict[str, str] = field(default_factory=dict)
    location: str | None = None


@dataclass(frozen=True)
class SyncIdentity(Statement):
    """ALTER TABLE … ALTER COLUMN … SYNC IDENTITY."""

    column: list[str]


@dataclass(frozen=True)
class AddConstraint(Statement):
    """ALTER TABLE name ADD CONSTRAINT constraint CHECK (…)."""

    constraint: str = ""
    expression: str = ""


@dataclass(frozen=True)
class DropConstraint(Statement):
    """ALTER TABLE name DROP CONSTRAINT [IF EXISTS] constraint."""

    constraint: str = ""
    if_exists: bool = False


@dataclass(frozen=True)
class DropFeature(Statement):
    """ALTER TABLE name DROP FEATURE feature [TRUNCATE HISTORY]."""

    feature: str = ""
    truncate_history: bool = False
