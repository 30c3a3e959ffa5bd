"""Carries out the statements that `deltaic.sql` parses."""
