"""Comparing a table with itself, from its log to its files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from deltaic import _core, html
from deltaic.credentials import with_credentials
from deltaic.exceptions import InvalidArgumentError
from deltaic.printable import counted
from deltaic.progress import followed
from deltaic.table.uri import place

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from deltaic.credentials import Credentials
    from deltaic.progress import Progress

VerifyLevel = Literal["fast", "checked", "full"]
"""How much of the redundant information of a log a read compares."""

LEVELS: dict[bool, VerifyLevel] = {True: "full", False: "fast"}
"""The levels of True and False, from before levels had names."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a table."""

    kind: str
    """What kind of thing, in one word: `MissingFile`, `CheckpointDiffers` …"""
    version: int | None
    """Version at which it shows, where there is one."""
    path: str
    """The file."""
    expected: str
    """What should be."""
    found: str
    """What is."""
    advice: str
    """What to do about it."""

    def __str__(self) -> str:
        at = "" if self.version is None else f" (version {self.version})"
        return f"{self.kind}: `{self.path}`{at}: expected {self.expected}, found {self.found}; {self.advice}"


@dataclass(frozen=True)
class VerifyReport:
    """What was verified, and what is wrong."""

    version: int
    """Version whose files were verified."""
    first_version: int
    """Oldest version that was replayed."""
    findings: list[Finding]
    """What is wrong; of one kind the first hundred."""
    more_findings: int
    """Findings beyond those."""
    commits: int
    """Commits that were replayed."""
    checkpoints: int
    """Checkpoints that were compared with the replay."""
    compacted_files: int
    """Compacted files that were compared with their commits."""
    checksums: int
    """Checksums that were compared with the replay."""
    files: int
    """Data files that were read."""
    deletion_vectors: int
    """Deletion vectors that were read."""

    @property
    def ok(self) -> bool:
        """Whether no problem was found."""
        return not self.findings

    def _repr_html_(self) -> str:
        looked_at = (
            (name.replace("_", " "), getattr(self, name))
            for name in (
                "commits",
                "checkpoints",
                "compacted_files",
                "checksums",
                "files",
                "deletion_vectors",
            )
        )
        findings = ((f.kind, f.version, f.path, f.expected, f.found, f.advice) for f in self.findings)
        shown = [html.facts(looked_at)]
        if self.findings:
            shown.append(html.grid(("kind", "version", "path", "expected", "found", "advice"), findings))
        if self.more_findings:
            shown.append(html.note(f"… and {self.more_findings:,} more were not kept"))
        verdict = (
            "no problem was found" if self.ok else counted(len(self.findings) + self.more_findings, "finding")
        )
        return html.page(f"Versions {self.first_version} to {self.version}: {verdict}", *shown)


def verify(
    uri: str | os.PathLike[str],
    *,
    version: int | None = None,
    deep: bool = False,
    storage_options: Mapping[str, str] | None = None,
    credentials: Credentials | None = None,
    progress: bool | Callable[[Progress], object] = False,
    _tasks: Callable[[str, list[str], int], list[str]] | None = None,
) -> VerifyReport:
    """As `deltaic.verify`, without an engine; `progress` is as for `Table.optimize`.

    `_tasks` opens the files of a deep verification, where it is given: see `_core.verify`.

    Raises:
        TableNotFoundError, VersionNotFoundError, UnsupportedFeatureError: as `deltaic.verify`.
    """
    if version is not None and version < 0:
        raise InvalidArgumentError(
            f"version {version} is below 0", argument="version", reason=f"{version} is below 0"
        )
    options = with_credentials(storage_options, credentials)
    with followed(progress, "verify") as tell:
        report = json.loads(_core.verify(place(uri), options, version, deep, _tasks, tell))
    findings = [Finding(**finding) for finding in report.pop("findings")]
    return VerifyReport(findings=findings, **report)
