"""Axes of settings times models: grids."""
