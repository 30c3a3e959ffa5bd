"""The command line: `python -m deltaic`."""
