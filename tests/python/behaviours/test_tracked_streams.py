"""Streams that keep a log of schemas do what delta-spark's do, run by run."""

from areas.tracked_streams import AREA
from recorded import answers_of, recorded_of

test_delta_spark_answered_the_same = answers_of(AREA)
test_delta_spark_answers_as_is_recorded = recorded_of(AREA)
