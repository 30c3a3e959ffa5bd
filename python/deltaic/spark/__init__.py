"""Delta tables in PySpark: classic sessions through the bridge, Spark Connect through the Python Data Source."""
