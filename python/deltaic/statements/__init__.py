"""The statements of Delta that Spark's SQL does not know."""
