"""Rules about fields and elements hold for rows that lack the column, as they do in delta-spark."""

from areas.nested_rules import AREA
from recorded import answers_of, recorded_of

test_delta_spark_answered_the_same = answers_of(AREA)
test_delta_spark_answers_as_is_recorded = recorded_of(AREA)
