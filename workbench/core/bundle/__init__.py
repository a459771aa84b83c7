"""Measured facts: frozen records, the bundle file that holds them, and the history."""
