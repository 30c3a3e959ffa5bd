"""Delta tables in PySpark: the bridge in classic sessions, the Python Data Source in Spark Connect."""
