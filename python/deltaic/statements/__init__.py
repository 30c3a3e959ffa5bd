"""The statements of Delta, parsed without Spark: what a text says. `deltaic.spark.statements` carries it out."""
