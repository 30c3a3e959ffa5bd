"""Streams from and into tables: what both kinds of session share."""
