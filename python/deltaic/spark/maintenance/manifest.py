"""GENERATE: the symlink manifests of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaic.exceptions import InvalidArgumentError

if TYPE_CHECKING:
    from deltaic.table import Table

_MANIFEST = "symlink_format_manifest"


def generate(table: Table, mode: str) -> None:
    """Writes the symlink manifests of a version.

    Raises:
        InvalidArgumentError: the mode is another than `symlink_format_manifest`, in any case.
        UnsupportedError: the table has deletion vectors or column mapping.
    """
    if mode.lower() != _MANIFEST:
        error = InvalidArgumentError.of("mode", f"`{mode}` is not supported; the one mode is {_MANIFEST}")
        raise error.named("DELTA_MODE_NOT_SUPPORTED", mode=mode, supportedModes=_MANIFEST)
    table.generate_manifest()
