"""The behaviours, by area: one module for each page of `tests/behaviours`, or for a part of a large one."""
