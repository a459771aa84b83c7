"""Axes of settings times models: sweeps and matrices."""
