"""`tour`: a table for newcomers, and what the commands show of it."""
