"""What Spark did to answer a query, in sessions of both kinds."""

from __future__ import annotations

from typing import Any

from deltaic.spark.session.kind import is_connect


def shown(df: Any) -> str:
    """All plans of a DataFrame, as text."""
    if is_connect(df):
        return str(df._explain_string(extended=True))
    return str(df._jdf.queryExecution().toString())


def analyzed(df: Any) -> str:
    """The analyzed plan of a DataFrame, as text: what it means, before anything is optimized."""
    if is_connect(df):
        plans = str(df._explain_string(extended=True))
        return plans.partition("== Analyzed Logical Plan ==")[2].partition("== Optimized Logical Plan ==")[0]
    return str(df._jdf.queryExecution().analyzed().toString())


def physical(df: Any) -> str:
    """The physical plan of a DataFrame, as text."""
    if is_connect(df):
        return str(df._explain_string(extended=False))
    return str(df._jdf.queryExecution().executedPlan().toString())


def files_read(df: Any) -> int:
    """Runs a DataFrame: the number of files that its scans read, by Spark's own metric."""
    df.collect()
    if is_connect(df):
        found = [metric for node in df.executionInfo.metrics._metrics for metric in node.metrics]
        return sum(
            int(metric.value) for metric in found if metric.name in ("numFiles", "number of files read")
        )
    return sum(
        scan.metrics().apply("numFiles").value() for scan in _scans(df._jdf.queryExecution().executedPlan())
    )


def _scans(plan: Any) -> list[Any]:
    if plan.getClass().getSimpleName() == "AdaptiveSparkPlanExec":
        return _scans(plan.executedPlan())
    found = [plan] if plan.getClass().getSimpleName() == "FileSourceScanExec" else []
    if hasattr(plan, "plan") and plan.getClass().getSimpleName().endswith("QueryStageExec"):
        found += _scans(plan.plan())
    children = plan.children()
    for i in range(children.size()):
        found += _scans(children.apply(i))
    return found
