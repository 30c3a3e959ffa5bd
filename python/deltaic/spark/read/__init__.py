"""Rows of a version as a DataFrame, and what a transaction must know of what was read."""
