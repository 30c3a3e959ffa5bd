"""Waits for the tasks of a failed job that writes: Spark reports the failure while others of the job still write."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# a task that does not end by then leaves at most files that no log names
_PATIENCE = 10.0


@contextmanager
def ended_after_failure(df: Any, tag: str) -> Iterator[None]:
    """Before an error of the jobs of a classic DataFrame is raised, their tasks have ended.

    So what is deleted then is not written again. `tag` names the jobs.
    """
    context = df.sparkSession.sparkContext._jsc.sc()
    context.addJobTag(tag)
    try:
        yield
    except BaseException:
        deadline = time.monotonic() + _PATIENCE
        while _running(context.statusTracker(), tag) and time.monotonic() < deadline:
            time.sleep(0.02)
        raise
    finally:
        context.removeJobTag(tag)


def _running(tracker: Any, tag: str) -> bool:
    for job in tracker.getJobIdsForTag(tag):
        known = tracker.getJobInfo(job)
        for stage in known.get().stageIds() if known.isDefined() else ():
            of_stage = tracker.getStageInfo(stage)
            if of_stage.isDefined() and of_stage.get().numActiveTasks() > 0:
                return True
    return False
