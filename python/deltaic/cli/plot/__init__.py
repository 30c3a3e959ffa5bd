"""`plot`: charts in the terminal, or in a file."""
