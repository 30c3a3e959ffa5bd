"""Columns have ids and names of their own as in delta-spark: modes, renames, drops, and what replaces a table."""

from areas.column_mapping import AREA
from recorded import answers_of, recorded_of

test_delta_spark_answered_the_same = answers_of(AREA)
test_delta_spark_answers_as_is_recorded = recorded_of(AREA)
