"""The feature of type widening comes and goes as in delta-spark, and so does its preview."""

from areas.type_widening_feature import AREA
from recorded import answers_of, recorded_of

test_delta_spark_answered_the_same = answers_of(AREA)
test_delta_spark_answers_as_is_recorded = recorded_of(AREA)
