"""`DeltaTable` and its builders, under the names of `delta.tables`."""

from deltaic.columns import IdentityGenerator
from deltaic.spark.catalog.table_builder import DeltaTableBuilder
from deltaic.spark.delta_table import DeltaTable
from deltaic.spark.dml.merge_builder import DeltaMergeBuilder
from deltaic.spark.maintenance.optimize import DeltaOptimizeBuilder

__all__ = [
    "DeltaMergeBuilder",
    "DeltaOptimizeBuilder",
    "DeltaTable",
    "DeltaTableBuilder",
    "IdentityGenerator",
]
