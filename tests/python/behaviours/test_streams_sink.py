"""A table as the sink of a stream takes what delta-spark takes, and says the same of it."""

from areas.streams_sink import AREA
from recorded import answers_of, recorded_of

test_delta_spark_answered_the_same = answers_of(AREA)
test_delta_spark_answers_as_is_recorded = recorded_of(AREA)
