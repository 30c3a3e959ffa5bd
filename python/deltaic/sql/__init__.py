"""The statements of Delta, parsed without Spark: what a text says, as data; `deltaic.spark.sql` carries it out."""
