"""Sessions of Spark Connect, which have no JVM: the format `delta` is a Python Data Source."""
