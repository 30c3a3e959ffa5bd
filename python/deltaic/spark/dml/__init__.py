"""Deletes, updates and merges: Spark evaluates and writes the rows, the core commits."""
