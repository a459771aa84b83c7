"""Rewrites of a model file that keep what it computes; `to_python()` prints their source."""
