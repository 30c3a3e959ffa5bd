"""Of the area `odd_logs`: deltaic answers as delta-spark does."""

from areas.odd_logs import AREA
from recorded import answers_of, recorded_of

test_delta_spark_answered_the_same = answers_of(AREA)
test_delta_spark_answers_as_is_recorded = recorded_of(AREA)
