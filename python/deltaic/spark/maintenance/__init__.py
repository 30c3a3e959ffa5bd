"""Operations on whole tables, and the DataFrames in which delta-spark shows what they did."""
