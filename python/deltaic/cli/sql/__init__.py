"""`sql`: queries on tables through an embedded engine."""
