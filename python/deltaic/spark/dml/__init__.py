"""Deletes, updates and merges: Spark looks at the rows and writes them, the core commits."""
