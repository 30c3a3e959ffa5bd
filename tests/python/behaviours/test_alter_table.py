"""ALTER TABLE and SHOW COLUMNS answer as those of delta-spark: columns at each depth, properties, views."""

from areas.alter_table import AREA
from recorded import answers_of, recorded_of

test_delta_spark_answered_the_same = answers_of(AREA)
test_delta_spark_answers_as_is_recorded = recorded_of(AREA)
