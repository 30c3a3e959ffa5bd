"""The statements of Delta, parsed without Spark. `deltaic.spark.statements` executes them."""
