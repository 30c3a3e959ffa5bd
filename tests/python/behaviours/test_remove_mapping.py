"""Column mapping goes as it does in delta-spark, and change feeds over that are read or refused alike."""

from areas.remove_mapping import AREA
from recorded import answers_of, recorded_of

test_delta_spark_answered_the_same = answers_of(AREA)
test_delta_spark_answers_as_is_recorded = recorded_of(AREA)
