"""Shallow clones, by path and by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic import identifiers
from deltaic.exceptions import TableAlreadyExistsError
from deltaic.spark.catalog import names
from deltaic.spark.session.after_commit import committed_at
from deltaic.spark.session.places import placed
from deltaic.spark.session.settings import user_metadata
from deltaic.spark.session.table_ref import TableRef

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from deltaic.table import Table


def clone(
    ref: TableRef, source: Table, target: str, *, replaces: bool, properties: Mapping[str, str] | None
) -> TableRef:
    """Makes a clone of a version at a path, a URL, or a name of the catalog, which learns it.

    Raises:
        DeltaError: as `Table.shallow_clone` and `catalog.names.register`.
    """

    def make(path: str) -> int:
        said = user_metadata(ref.spark, "clone")
        how: dict[str, Any] = {"replace": replaces, "properties": properties, "user_metadata": said}
        return source.shallow_clone(path, **how, _source_name=ref.name).version

    return made_at(ref, target, make)


def made_at(ref: TableRef, target: str, make: Callable[[str], int]) -> TableRef:
    """Makes a clone by `make`, which takes its path and gives its version, at a path, a URL, or a name of the catalog.

    Raises:
        DeltaError: as `make` and `catalog.names.register`.
    """
    path, name, known = placed(ref.spark, target), None, None
    if not identifiers.is_absolute(target):
        name = identifiers.parts(target)
        if (by_path := identifiers.path_of(name)) is not None:
            path, name = by_path, None
        else:
            known = names.find(ref.spark, name)
            path = names.default_path(ref.spark, name) if known is None else known.path
    try:
        version = make(path)
    except TableAlreadyExistsError as error:
        if known is not None:
            error.named("DELTA_TABLE_ALREADY_EXISTS", tableName=known.name)
        raise
    committed_at(ref.spark, path, version)
    if name is not None and known is None:
        known = names.register(ref.spark, name, path, managed=names.in_metastore(ref.spark, name))
    return TableRef(ref.spark, path, None, ref.storage_options, known.name if known else None)
