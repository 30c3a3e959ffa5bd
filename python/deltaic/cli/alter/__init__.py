"""`alter TABLE`: changes of what a table is, one command for each."""
