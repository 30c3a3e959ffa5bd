"""Carries out what `deltaic.statements` has parsed."""
