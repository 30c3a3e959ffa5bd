"""Statistics are written as by delta-spark, and no row is lost by them."""

from areas.statistics import AREA
from recorded import answers_of, recorded_of

test_delta_spark_answered_the_same = answers_of(AREA)
test_delta_spark_answers_as_is_recorded = recorded_of(AREA)
