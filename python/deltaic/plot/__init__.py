"""Charts of tables: what is in them as numbers, and as pictures by Matplotlib."""
