"""CHECK constraints, NOT NULL and lengths of texts hold as they do in delta-spark, by each statement."""

from areas.constraints import AREA
from recorded import answers_of, recorded_of

test_delta_spark_answered_the_same = answers_of(AREA)
test_delta_spark_answers_as_is_recorded = recorded_of(AREA)
