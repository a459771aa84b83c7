"""Errors of outputs against a baseline, accuracy over examples, and the layers that cause the errors."""
