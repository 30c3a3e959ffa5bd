"""Tables by name: what the catalog of a session knows, and statements that make, change and clone tables."""
