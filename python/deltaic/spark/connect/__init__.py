"""Sessions of Spark Connect: no JVM at hand, the format `delta` is a Python Data Source."""
