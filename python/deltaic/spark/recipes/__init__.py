"""Common uses of a merge: each a few lines over `deltaic.spark.dml.merge`."""
