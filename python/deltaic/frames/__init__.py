"""Tables as lazy frames of other libraries."""
