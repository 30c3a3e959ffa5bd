"""Metrics of the history, with the names and the meaning of delta-spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def of_files(counts: Mapping[str, int | None], *, by_vectors: bool, by_rows: bool) -> dict[str, int]:
    """The metrics of all operations. `by_rows` is false if whole files were removed unread."""
    vectors = by_vectors and by_rows
    removed = counts["emptiedVectors"] if vectors else counts["touchedVectors"]
    updated = _number(counts["nextVectors"]) if vectors else 0
    added = _number(counts["firstVectors"]) if vectors else 0
    return {
        "numAddedFiles": _number(counts["addedFiles"]),
        "numAddedBytes": _number(counts["addedBytes"]),
        "numAddedChangeFiles": _number(counts["changeFiles"]),
        "numDeletionVectorsAdded": added + updated,
        "numDeletionVectorsRemoved": _number(removed) + updated,
        "numDeletionVectorsUpdated": updated,
    }


def of_delete(counts: Mapping[str, int | None], *, by_vectors: bool, by_rows: bool) -> dict[str, int]:
    """Of a delete. No number of rows if whole files were removed whose number of rows is unknown."""
    metrics = of_files(counts, by_vectors=by_vectors, by_rows=by_rows)
    vectors = by_vectors and by_rows
    metrics["numRemovedFiles"] = _number(counts["emptiedFiles"] if vectors else counts["touchedFiles"])
    metrics["numRemovedBytes"] = 0 if vectors else _number(counts["touchedBytes"])
    matched = counts["matchedRows"]
    if matched is None or (matched == 0 and metrics["numRemovedFiles"] > 0):
        del metrics["numAddedFiles"]
        return metrics
    metrics["numDeletedRows"] = matched
    metrics["numCopiedRows"] = _number(counts["addedRows"])
    return metrics


def of_replace(
    counts: Mapping[str, int | None], copied: int, *, by_vectors: bool, by_rows: bool = True
) -> dict[str, int]:
    """Of an overwrite of the rows that match; `copied` rows stayed and were written again.

    A file of which rows are marked as deleted is one that was written, and the rows that are left were copied.
    No number of deleted rows if whole files were removed whose number of rows is unknown.
    """
    deleted = of_delete(counts, by_vectors=by_vectors, by_rows=by_rows)
    files, bytes_ = _number(counts["addedFiles"]), _number(counts["addedBytes"])
    rows = _number(counts["addedRows"])
    if by_vectors:
        files += _number(counts["firstVectors"]) + _number(counts["nextVectors"])
        bytes_ += _number(counts["touchedBytes"]) - _number(counts["emptiedBytes"])
        copied = _number(counts["touchedRows"]) - _number(counts["matchedRows"])
        rows += copied
    measured = {
        "numFiles": files,
        "numOutputBytes": bytes_,
        "numAddedChangeFiles": deleted["numAddedChangeFiles"],
        "numRemovedFiles": deleted["numRemovedFiles"],
        "numRemovedBytes": deleted["numRemovedBytes"],
    }
    if rows == 0:
        return measured
    measured["numOutputRows"] = rows
    if "numDeletedRows" in deleted:
        measured |= {"numDeletedRows": deleted["numDeletedRows"], "numCopiedRows": copied}
    return measured


def of_update(counts: Mapping[str, int | None], *, by_vectors: bool, by_rows: bool) -> dict[str, int]:
    """Of an update."""
    metrics = of_files(counts, by_vectors=by_vectors, by_rows=by_rows)
    if not by_rows:
        metrics |= dict.fromkeys((k for k in metrics if k.startswith("numDeletionVectors")), 0)
    updated = counts["matchedRows"]
    added = _number(counts["addedRows"])
    metrics["numUpdatedRows"] = added if updated is None else updated
    metrics["numCopiedRows"] = added - metrics["numUpdatedRows"]
    metrics["numRemovedFiles"] = _number(counts["touchedFiles"])
    metrics["numRemovedBytes"] = 0 if by_vectors else _number(counts["touchedBytes"])
    return metrics


def of_merge(
    counts: Mapping[str, int | None], rows: Mapping[str, int], *, by_vectors: bool
) -> dict[str, int]:
    """Of a merge, with what it did to `rows`."""
    files = of_files(counts, by_vectors=by_vectors, by_rows=by_vectors)
    updated = rows["numTargetRowsMatchedUpdated"] + rows["numTargetRowsNotMatchedBySourceUpdated"]
    return {
        **rows,
        "numTargetRowsUpdated": updated,
        "numTargetRowsDeleted": rows["numTargetRowsMatchedDeleted"]
        + rows["numTargetRowsNotMatchedBySourceDeleted"],
        "numOutputRows": _number(counts["addedRows"]),
        "numTargetFilesAdded": files["numAddedFiles"],
        "numTargetFilesRemoved": _number(counts["emptiedFiles" if by_vectors else "touchedFiles"]),
        "numTargetBytesAdded": files["numAddedBytes"],
        "numTargetBytesRemoved": _number(counts["emptiedBytes" if by_vectors else "touchedBytes"]),
        "numTargetChangeFilesAdded": files["numAddedChangeFiles"],
        "numTargetDeletionVectorsAdded": files["numDeletionVectorsAdded"],
        "numTargetDeletionVectorsRemoved": files["numDeletionVectorsRemoved"] if by_vectors else 0,
        "numTargetDeletionVectorsUpdated": files["numDeletionVectorsUpdated"],
    }


def _number(count: int | None) -> int:
    return count or 0
