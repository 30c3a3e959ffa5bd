"""The bridge into classic sessions: Java sources for Spark's own compiler, and the Python that they call."""
