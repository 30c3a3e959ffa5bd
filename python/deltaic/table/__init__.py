"""`Table`: a Delta table without an engine, and the results of its operations."""

from deltaic.table.dml import DeleteResult, UpdateResult
from deltaic.table.maintain import (
    CloneResult,
    ConvertResult,
    CurveStats,
    FsckResult,
    ManifestResult,
    OptimizeResult,
    RestoreResult,
    VacuumResult,
)
from deltaic.table.merge import Merge, MergeResult
from deltaic.table.results import Checkpoint, CleanedLog, CompactedLog, FileTotals, Metadata, Protocol
from deltaic.table.table import ArrowStream, Table
from deltaic.table.verify import Finding, VerifyReport
from deltaic.table.write import CreateResult, WriteResult

__all__ = [
    "ArrowStream",
    "Checkpoint",
    "CleanedLog",
    "CloneResult",
    "CompactedLog",
    "ConvertResult",
    "CreateResult",
    "CurveStats",
    "DeleteResult",
    "FileTotals",
    "Finding",
    "FsckResult",
    "ManifestResult",
    "Merge",
    "MergeResult",
    "Metadata",
    "OptimizeResult",
    "Protocol",
    "RestoreResult",
    "Table",
    "UpdateResult",
    "VacuumResult",
    "VerifyReport",
    "WriteResult",
]
