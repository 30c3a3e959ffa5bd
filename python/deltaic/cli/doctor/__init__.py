"""`doctor`: what this machine, and the store of a table, give deltaic to work with."""
