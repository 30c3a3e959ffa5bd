"""What is often made of a merge: each a few lines over `deltaic.spark.dml.merge`."""
