"""Pipelines: models and functions in turn, and the share of each stage."""
