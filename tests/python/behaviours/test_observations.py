"""Observations of rows that are written are told as with delta-spark."""

import pytest
from areas.observations import AREA
from recorded import answers_of, recorded_of

# a server of Spark Connect tells the first request that has the plan, before rows are read
test_delta_spark_answered_the_same = pytest.mark.classic("observes a view and the source of a merge")(
    answers_of(AREA)
)
test_delta_spark_answers_as_is_recorded = recorded_of(AREA)
